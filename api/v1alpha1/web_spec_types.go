// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WebSpec rules the pages that people see.
type WebSpec struct {
	// homeURL is the page that participants go to when a meeting ends without a redirect. Empty means baseURL.
	// +optional
	HomeURL URL `json:"homeURL,omitempty"`
	// endCountdown is the time that the page shows the end of a meeting before it goes to the redirect or to homeURL.
	// Participants can stay, or go on at once. Default 0s where the meeting has a redirect, and 20s otherwise, which is
	// also the least then: participants need the time to read. At most 5m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(ms|s|m|h)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('5m')",message="must be 5m or less, for example 0s or 30s"
	EndCountdown *metav1.Duration `json:"endCountdown,omitempty"`
	// embedOrigins are the origins that may show the room in an iframe, for example https://app.example.com. The origin of an
	// app's own pages has a scheme of its own, for example capacitor://localhost. All of them are in a header of each page, for
	// which proxies have little room: at most 2600 characters together.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(origin, origin.size()).sum() <= 2600",message="must have at most 2600 characters together, since proxies take few headers; https://*.example.com stands for all below one domain"
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z][a-z0-9+.-]*://(\\\\*\\\\.)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$') && !self.matches('^(ftp|file|wss?):')",message="must be an origin, for example https://app.example.com or https://*.example.com; write letters beyond ASCII in Punycode, for example https://xn--bcher-kva.example"
	EmbedOrigins []string `json:"embedOrigins,omitempty"`
	// avatarHosts are the hosts of images that guests may choose for themselves: exact, or *.example.com for all hosts below
	// one. The browsers of all participants fetch an avatar, so that none of a guest's choice is shown unless its host is
	// listed. Avatars in join links that the API made are always shown.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(\\\\*\\\\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?(:[0-9]{1,5})?$|^\\\\[[0-9A-Fa-f:.]+\\\\](:[0-9]{1,5})?$')",message="must be a host, or *.suffix for all hosts below one, with or without a port; write letters beyond ASCII in Punycode, for example xn--bcher-kva.example"
	AvatarHosts []string `json:"avatarHosts,omitempty"`
	// corsOrigins are the origins whose scripts may call the API: exact, or * for any. The origin of an app's own pages has a
	// scheme of its own, for example capacitor://localhost.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(\\\\*|[a-z][a-z0-9+.-]*://[A-Za-z0-9.-]+(:[0-9]{1,5})?)$') && !self.matches('^(ftp|file|wss?):')",message="must be an origin, for example https://app.example.com, or * for any; write letters beyond ASCII in Punycode, for example https://xn--bcher-kva.example"
	CORSOrigins []string `json:"corsOrigins,omitempty"`
	// brand is the name, logo and colour on the pages.
	// +optional
	Brand *BrandSpec `json:"brand,omitempty"`
}

// BrandSpec is the name, logo and colour on the pages.
type BrandSpec struct {
	// name on the pages. Default Convene.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// logoURL of an image.
	// +optional
	LogoURL URL `json:"logoURL,omitempty"`
	// color of buttons and links, as #rrggbb. The pages use the nearest shade that can be read in each theme.
	// +optional
	// +kubebuilder:validation:MaxLength=7
	// +kubebuilder:validation:Pattern=`^(#[0-9A-Fa-f]{6})?$`
	Color string `json:"color,omitempty"`
}
