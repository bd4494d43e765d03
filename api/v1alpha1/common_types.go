// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Duration is the length of a meeting: hours, minutes and seconds in Go's form, for example 1h30m or 45m, at most
// 99h59m59s; or unlimited. (HH:MM:SS is the form of the REST API.)
//
// +kubebuilder:validation:MaxLength=18
// +kubebuilder:validation:XValidation:rule="self == 'unlimited' || self.matches('^([0-9]{1,5}[hms]){1,3}$') || self.contains(':')",message="duration must be hours, minutes and seconds, for example 1h30m or 45m, or unlimited"
// +kubebuilder:validation:XValidation:rule="!self.contains(':')",message="HH:MM:SS is the form of the REST API; here write 1h30m for 01:30:00"
// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}[hms]){1,3}$') || duration(self) > duration('0s')",message="duration must not be zero; use unlimited for no limit"
// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}[hms]){1,3}$') || duration(self) < duration('100h')",message="duration must be at most 99h59m59s; use unlimited for no limit"
type Duration string

// Unlimited is the Duration of a meeting that does not expire.
const Unlimited Duration = "unlimited"

// URL is empty or an absolute http or https URL of at most 2,048 characters.
//
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="size(self) == 0 || (isURL(self.split('#')[0]) && url(self.split('#')[0]).getScheme() in ['http', 'https'] && size(url(self.split('#')[0]).getHostname()) > 0 && !self.matches('[\\\\x00-\\\\x1f\\\\x7f]'))",message="must be an absolute http or https URL, for example https://example.com/bye"
type URL string

// SecretKeyReference names one key of a Secret in the same namespace. The Secret needs the label convene.dev/used-by with the kind of the
// object that names it, for example convene.dev/used-by=ConferenceConfig.
type SecretKeyReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// key in the Secret's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ConfigMapKeyReference names one key of a ConfigMap in the same namespace.
type ConfigMapKeyReference struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// key in the ConfigMap's data.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ConfigMapReference names a ConfigMap in the same namespace.
type ConfigMapReference struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretReference names a Secret in the same namespace. The Secret needs the label convene.dev/used-by with the kind of the object that names
// it, for example convene.dev/used-by=ConferenceConfig.
type SecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
