// SPDX-License-Identifier: Apache-2.0

// Command openapi makes an OpenAPI document for each variant, in YAML and in JSON, from the document of both variants:
//
//	go run ./hack/openapi internal/httpapi/openapi.yaml internal/httpapi/openapi
//
// What has x-convene-variant goes into the document of that variant alone. Extensions with names in x-convene- are left out.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const extension = "x-convene-"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: openapi SOURCE FOLDER")
	}
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, variant := range []string{"A", "B"} {
		inYAML, inJSON, err := documents(source, variant)
		if err != nil {
			log.Fatalf("%s: %v", os.Args[1], err)
		}
		name := filepath.Join(os.Args[2], "openapi-"+strings.ToLower(variant))
		for path, text := range map[string][]byte{name + ".yaml": inYAML, name + ".json": inJSON} {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
}

// documents returns the document of a variant in YAML and in JSON.
func documents(source []byte, variant string) (inYAML, inJSON []byte, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, nil, err
	}
	limitTo(variant, root.Content[0])
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&root); err != nil {
		return nil, nil, err
	}
	inJSON, err = appendJSON(nil, root.Content[0])
	return text.Bytes(), append(inJSON, '\n'), err
}

// limitTo leaves out the extensions, and what only other variants have.
func limitTo(variant string, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		kept := n.Content[:0]
		for i := 0; i < len(n.Content); i += 2 {
			if key, value := n.Content[i], n.Content[i+1]; !strings.HasPrefix(key.Value, extension) && isOf(variant, value) {
				kept = append(kept, key, value)
			}
		}
		n.Content = kept
	}
	for _, child := range n.Content {
		limitTo(variant, child)
	}
}

// isOf reports whether a variant has something.
func isOf(variant string, n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == extension+"variant" {
			return n.Content[i+1].Value == variant
		}
	}
	return true
}

// appendJSON writes YAML as JSON in the order in which it stands: tools show operations in the order of the document.
func appendJSON(b []byte, n *yaml.Node) ([]byte, error) {
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendScalar(b, n.Content[i].Value); err != nil {
				return nil, err
			}
			b = append(b, ':')
			if b, err = appendJSON(b, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case yaml.ScalarNode:
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, err
		}
		return appendScalar(b, value)
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return nil, fmt.Errorf("line %d: no aliases, please", n.Line)
}

func appendScalar(b []byte, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	return append(b, text...), err
}
