// pack makes an image without a container engine: an OCI layout of one layer, for the test node.
//
//	pack -o FOLDER -name IMAGE -entrypoint /program /program=bin/program ...
//	pack -o FOLDER -name IMAGE -dockerfile Dockerfile
//
// With -dockerfile it does what the last stage of that file says: what earlier stages have built is taken from the working
// folder, which stands for their /src.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// authorities is where Debian keeps the certificates of public authorities, and so do distroless images.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

func main() {
	log.SetFlags(0)
	out := flag.String("o", "", "the folder to write")
	name := flag.String("name", "", "the whole name of the image, with its registry and tag")
	dockerfile := flag.String("dockerfile", "", "do what the last stage of this file says")
	user := flag.String("user", "65532:65532", "who the program runs as")
	entrypoint := flag.String("entrypoint", "", "the program")
	libraries := flag.Bool("libraries", false, "add the shared libraries of the entrypoint")
	flag.Parse()
	c := content{User: *user, Files: map[string]string{}}
	if *entrypoint != "" {
		c.Entrypoint = []string{*entrypoint}
	}
	for _, arg := range flag.Args() {
		to, from, ok := strings.Cut(arg, "=")
		if !ok {
			log.Fatalf("%s: want PLACE_IN_THE_IMAGE=FILE", arg)
		}
		c.Files[to] = from
	}
	if err := pack(c, *out, *name, *dockerfile, *libraries); err != nil {
		log.Fatalf("pack %s: %v", *name, err)
	}
}

func pack(c content, out, name, dockerfile string, libraries bool) error {
	if dockerfile != "" {
		text, err := os.ReadFile(dockerfile)
		if err != nil {
			return err
		}
		if c, err = lastStage(string(text)); err != nil {
			return fmt.Errorf("%s: %w", dockerfile, err)
		}
	}
	if libraries {
		if err := c.addLibraries(); err != nil {
			return err
		}
	}
	image, err := c.image()
	if err != nil {
		return err
	}
	// Made beside it and renamed: a folder that is there is whole.
	fresh := out + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	at, err := layout.Write(fresh, empty.Index)
	if err != nil {
		return err
	}
	if err := at.AppendImage(image, layout.WithAnnotations(map[string]string{"io.containerd.image.name": name})); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(out), os.Rename(fresh, out))
}

// content is what an image holds and how it is run.
type content struct {
	User       string
	Entrypoint []string
	// Files are places in the image, and the files of this machine that go there.
	Files map[string]string
}

// addLibraries adds what the dynamic linker says that the program needs.
func (c content) addLibraries() error {
	out, err := exec.Command("ldd", c.Files[c.Entrypoint[0]]).Output()
	if err != nil {
		return fmt.Errorf("ldd: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if filepath.IsAbs(word) {
				c.Files[word] = word
			}
		}
	}
	return nil
}

func (c content) image() (v1.Image, error) {
	files, err := c.layer()
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1),
		static.NewLayer(files, types.OCIUncompressedLayer))
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{
		User: c.User, Entrypoint: c.Entrypoint, WorkingDir: "/",
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "SSL_CERT_FILE=" + authorities},
	}
	return mutate.ConfigFile(image, config)
}

// layer is a tar of the files, over what distroless's static image has.
func (c content) layer() ([]byte, error) {
	var buffer bytes.Buffer
	w := layerWriter{Writer: tar.NewWriter(&buffer), made: map[string]bool{}}
	err := errors.Join(
		w.folder("tmp", 0o1777),
		w.file("etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"), 0o644),
		w.file("etc/group", []byte("root:x:0:\nnonroot:x:65532:\n"), 0o644),
	)
	if roots, readErr := os.ReadFile(authorities); readErr == nil {
		err = errors.Join(err, w.file(authorities[1:], roots, 0o644))
	}
	for to, from := range c.Files {
		content, readErr := os.ReadFile(from)
		info, statErr := os.Stat(from)
		if err := errors.Join(readErr, statErr); err != nil {
			return nil, err
		}
		err = errors.Join(err, w.file(strings.TrimPrefix(to, "/"), content, info.Mode().Perm()))
	}
	return buffer.Bytes(), errors.Join(err, w.Close())
}

type layerWriter struct {
	*tar.Writer
	made map[string]bool
}

func (w layerWriter) folder(name string, mode int64) error {
	if name == "." || w.made[name] {
		return nil
	}
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	w.made[name] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode})
}

func (w layerWriter) file(name string, content []byte, mode fs.FileMode) error {
	if err := w.folder(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
