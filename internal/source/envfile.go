// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"slices"
	"strings"
)

// The variables of an environment file that Variant B reads.
const (
	keySecretVariable = "API_KEY_SECRET"
	disabledVariable  = "API_DISABLED"
	tokenKeyVariable  = "JWT_KEY"
)

// The variables that keep people out.
const (
	protectedVariable = "HOST_PROTECTED"
	oidcVariable      = "OIDC_ENABLED"
	userAuthVariable  = "HOST_USER_AUTH"
	addressesVariable = "IP_WHITELIST_ENABLED"
)

// joinFirstVariable makes the first to join a room its presenter, as a file without it does.
const joinFirstVariable = "PRESENTER_JOIN_FIRST"

// FromEnv reads the settings of Variant B from its environment; see Environment. An API_DISABLED that is no JSON array of names is
// Invalid.
func FromEnv(env map[string]string) (Settings, error) {
	var s Settings
	s.KeySecret, s.HasKeySecret = env[keySecretVariable]
	if value, ok := env[disabledVariable]; ok {
		names, err := disabledNames(value)
		if err != nil {
			return Settings{}, err
		}
		s.Disabled = names
	}
	s.TokenKey = env[tokenKeyVariable]
	s.Logins = Logins{ToOpen: isOn(env[protectedVariable]) || isOn(env[oidcVariable]), ToEnter: isOn(env[userAuthVariable])}
	s.AddressesOnly = isOn(env[addressesVariable])
	first := strings.TrimSpace(env[joinFirstVariable])
	s.OpenerParticipates = first != "" && !isTrue(first)
	return s, nil
}

// isTrue takes for false whatever does not say true.
func isTrue(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(value))
}

// isOn takes for true whatever does not say the opposite: a word that is not known must not open a host.
func isOn(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "no", "off", "null", "undefined"}, strings.ToLower(strings.TrimSpace(value)))
}

// disabledNames reads the value of API_DISABLED. Nothing and null are none.
func disabledNames(value string) ([]string, error) {
	if value = strings.TrimSpace(value); value == "" {
		return []string{}, nil
	}
	var names []string
	err := json.Unmarshal([]byte(value), &names)
	if err != nil {
		// Quotes that were escaped for the double quotes around them.
		names = nil
		err = json.Unmarshal([]byte(strings.ReplaceAll(value, `\"`, `"`)), &names)
	}
	if err != nil {
		return nil, invalid(`%s must be a JSON array of endpoint names, for example ["token","meetings"]: fix it in the environment file and make the Secret again`, disabledVariable)
	}
	return append([]string{}, names...), nil
}
