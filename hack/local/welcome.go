// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// welcomeRoom is the room of the link to click.
const welcomeRoom = "welcome"

var welcomeText = template.Must(template.New("welcome").Parse(`
Convene is running. It took {{.Took}} s.

  Base URL     {{.URL}}   (variant B: {{.URLB}})
  API key      {{.Key}}

  Create a meeting:
    curl -X POST -H 'authorization: {{.Key}}' {{.URL}}/api/v1/meeting

  Make a link that joins a user:
    curl -X POST -H 'authorization: {{.Key}}' -H 'content-type: application/json' \
      -d '{"room":"{{.Room}}","name":"Ada","audio":true,"video":true}' {{.URL}}/api/v1/join

  Enter a room (open it in two windows):
    {{.Link}}

  Look at it with kubectl (bin/kubectl{{if not .HasKubectl}}, which is being built now, usually in less than a minute{{end}}):
    export KUBECONFIG={{.Kubeconfig}}

All of these as variables: . .local/env     Logs: .local/log/     End: Ctrl-C
`))

// welcome makes a meeting, writes .local/env, and tells a person what there is.
func (s *stack) welcome(ctx context.Context, hasKubectl bool) error {
	link, err := s.createMeeting(ctx)
	if err != nil {
		return fmt.Errorf("create the meeting %s: %w", welcomeRoom, err)
	}
	if err := s.writeEnv(); err != nil {
		return err
	}
	return welcomeText.Execute(s.out, map[string]any{
		"Took": fmt.Sprintf("%.1f", time.Since(s.began).Seconds()),
		"URL":  s.baseURL(portA), "URLB": s.baseURL(portB), "Key": s.state.Keys.APIKeyA,
		"Room": welcomeRoom, "Link": link, "Kubeconfig": s.kubeconfig(), "HasKubectl": hasKubectl,
	})
}

// createMeeting makes the room of the link, or finds it live from the last time.
func (s *stack) createMeeting(ctx context.Context) (string, error) {
	body, err := json.Marshal(map[string]string{"room": welcomeRoom})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.baseURL(portA)+"/api/v1/meeting", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", s.state.Keys.APIKeyA)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct{ Meeting, Error string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", err
	}
	// The room may be there with other values, or the endpoint may be switched off: the link is the same.
	if resp.StatusCode != http.StatusOK {
		fmt.Fprintf(s.out, "the room %s was not made: %s\n", welcomeRoom, answer.Error)
		return s.baseURL(portA) + "/join/" + welcomeRoom, nil
	}
	return answer.Meeting, nil
}

// writeEnv writes the file to source. It is there only while everything runs.
func (s *stack) writeEnv() error {
	variables := [][2]string{
		{"CONVENE_URL", s.baseURL(portA)}, {"CONVENE_API_KEY", s.state.Keys.APIKeyA},
		{"CONVENE_B_URL", s.baseURL(portB)}, {"CONVENE_B_API_KEY", s.state.Keys.APIKeyB},
		{"KUBECONFIG", s.kubeconfig()},
	}
	var b strings.Builder
	for _, v := range variables {
		fmt.Fprintf(&b, "export %s=%s\n", v[0], quoted(v[1]))
	}
	// The kubectl that was built for this API server, before an older one.
	fmt.Fprintf(&b, "export PATH=%s:\"$PATH\"\n", quoted(filepath.Dir(s.binaries.Kubectl)))
	if err := os.WriteFile(s.envFile()+".new", []byte(b.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(s.envFile()+".new", s.envFile())
}

// quoted protects a value from the shell.
func quoted(v string) string { return "'" + strings.ReplaceAll(v, "'", `'\''`) + "'" }
