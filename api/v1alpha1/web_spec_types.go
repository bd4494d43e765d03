// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WebSpec rules the pages that people see.
type WebSpec struct {
	// homeURL is where people go when a meeting ends without a redirect. Empty means baseURL.
	// +optional
	HomeURL URL `json:"homeURL,omitempty"`
	// embedOrigins are the origins that may show the room in an iframe, for example https://app.example.com. The origin of an
	// app's own pages has a scheme of its own, for example capacitor://localhost.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
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
