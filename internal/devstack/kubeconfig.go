// SPDX-License-Identifier: Apache-2.0

package devstack

import (
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig returns a kubeconfig file for the user. It holds the certificates themselves, so it can be moved.
func (c *ControlPlane) Kubeconfig(u User) ([]byte, error) {
	files := map[string][]byte{}
	for _, name := range []string{fileCA, u.File + ".crt", u.File + ".key"} {
		b, err := os.ReadFile(c.pki.path(name))
		if err != nil {
			return nil, err
		}
		files[name] = b
	}
	const cluster = "convene-local"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			cluster: {Server: c.URL(), CertificateAuthorityData: files[fileCA]},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			u.File: {ClientCertificateData: files[u.File+".crt"], ClientKeyData: files[u.File+".key"]},
		},
		Contexts: map[string]*clientcmdapi.Context{
			cluster: {Cluster: cluster, AuthInfo: u.File, Namespace: c.Namespace},
		},
		CurrentContext: cluster,
	})
}

// RESTConfig returns a client configuration for the user, without a rate limit.
func (c *ControlPlane) RESTConfig(u User) (*rest.Config, error) {
	b, err := c.Kubeconfig(u)
	if err != nil {
		return nil, err
	}
	conf, err := clientcmd.RESTConfigFromKubeConfig(b)
	if err != nil {
		return nil, err
	}
	conf.QPS = -1
	return conf, nil
}
