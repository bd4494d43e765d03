package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// base is the one image that this program can stand in for: it has no program of its own.
const base = "gcr.io/distroless/static"

// lastStage reads what the last stage of a Dockerfile puts into the image. An instruction that is not known here is an
// error: none is left out unseen.
func lastStage(dockerfile string) (content, error) {
	c := content{Files: map[string]string{}}
	begin := strings.LastIndex("\n"+dockerfile, "\nFROM ")
	if begin < 0 {
		return c, fmt.Errorf("it has no FROM")
	}
	for line := range strings.Lines(strings.ReplaceAll(dockerfile[begin:], "\\\n", " ")) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := c.apply(instruction, strings.TrimSpace(rest)); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *content) apply(instruction, rest string) error {
	switch instruction {
	case "", "#", "EXPOSE", "LABEL", "ARG":
	case "FROM":
		if !strings.HasPrefix(rest, base) {
			return fmt.Errorf("the image is built on %s, and only %s can be stood in for", rest, base)
		}
		c.User = "65532:65532"
	case "USER":
		c.User = rest
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &c.Entrypoint)
	case "COPY":
		words := strings.Fields(rest)
		if len(words) != 3 || words[0] != "--from=build" || !strings.HasPrefix(words[1], "/src/") {
			return fmt.Errorf("want COPY --from=build /src/FILE PLACE, not COPY %s", rest)
		}
		c.Files[words[2]] = strings.TrimPrefix(words[1], "/src/")
	default:
		return fmt.Errorf("%s is not known to hack/tools/pack", instruction)
	}
	return nil
}
