// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

const (
	// MaxScript is the greatest length of a config.js in bytes.
	MaxScript = 1 << 20
	// maxKey is the greatest length of a key in bytes: the headers of a request hold no more. Settings stay in memory, and one line of
	// a script can make any length.
	maxKey = 16 << 10
	// maxDepth bounds calls within calls.
	maxDepth = 400
	// maxTime is the last resort, by the clock, for a caller whose context never ends.
	maxTime    = 2 * time.Second
	scriptName = "config.js"
)

//go:embed prelude.js
var preludeText string

var prelude = goja.MustCompile("prelude.js", preludeText, true)

// clock is what the file takes for the time, and chance for a random number: one file gives one result.
var clock = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

const chance = 0.5

// EvaluateConfigJS evaluates the text of a config.js and reads api, and host, oidc, middleware and jwt below security, of what
// it exports, as a CommonJS or an ECMAScript module. The file finds env in process.env; every other thing outside of it is a value of
// which nothing comes. Every error is Invalid, and is one sentence with the line and how to fix it.
//
// The end of ctx, or two seconds, interrupts the file's own code, but neither a built-in function at work nor the
// parser, and nothing bounds its memory. Files from outside are for package sandbox, which runs this in a process of its
// own.
func EvaluateConfigJS(ctx context.Context, script string, env map[string]string) (settings Settings, err error) {
	if len(script) > MaxScript {
		return Settings{}, invalid("%s is longer than 1 MiB: leave only the settings in it", scriptName)
	}
	// A file must not be able to stop the program through a mistake in the evaluator.
	defer func() {
		if recovered := recover(); recovered != nil {
			settings, err = Settings{}, invalid("%s cannot be evaluated: set spec.api instead of spec.source", scriptName)
		}
	}()
	program, err := compile(script)
	if err != nil {
		return Settings{}, syntaxError(err, script)
	}
	vm := newRuntime()
	kinds := newErrorKinds(vm)
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { vm.Interrupt("time") })
	defer stop()
	result, err := evaluate(vm, program, env)
	if err != nil {
		return Settings{}, runtimeError(err, kinds)
	}
	return readSettings(vm, result)
}

func newRuntime() *goja.Runtime {
	vm := goja.New()
	vm.SetMaxCallStackSize(maxDepth)
	vm.SetTimeSource(func() time.Time { return clock })
	vm.SetRandSource(func() float64 { return chance })
	// Or a comment in code that the file evals would have the parser open a file.
	vm.SetParserOptions(parser.WithDisableSourceMaps)
	return vm
}

// compile puts the file into the function that makes a module of it, without moving its lines.
func compile(script string) (*goja.Program, error) {
	script = strings.TrimPrefix(script, "\ufeff")
	if strings.HasPrefix(script, "#!") {
		script = "//" + script
	}
	script = strings.ReplaceAll(script, "\r\n", "\n")
	wrapped := "(function (exports, require, module, __filename, __dirname) {" + toCommonJS(script) + "\n})"
	// Or a comment in the file would have the parser open another file.
	tree, err := parser.ParseFile(nil, scriptName, wrapped, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(tree, false)
}

// evaluate runs the file and returns its settings as prelude.js reads them.
func evaluate(vm *goja.Runtime, program *goja.Program, env map[string]string) (*goja.Object, error) {
	surroundings, err := surround(vm, env)
	if err != nil {
		return nil, err
	}
	body, err := vm.RunProgram(program)
	if err != nil {
		return nil, err
	}
	module, exports := vm.NewObject(), vm.NewObject()
	if err := module.Set("exports", exports); err != nil {
		return nil, err
	}
	run, _ := goja.AssertFunction(body)
	read, _ := goja.AssertFunction(surroundings.Get("read"))
	if _, err := run(exports, exports, surroundings.Get("require"), module, vm.ToValue("/"+scriptName), vm.ToValue("/")); err != nil {
		return nil, err
	}
	result, err := read(goja.Undefined(), module)
	if err != nil {
		return nil, err
	}
	return result.ToObject(vm), nil
}

// surround runs prelude.js.
func surround(vm *goja.Runtime, env map[string]string) (*goja.Object, error) {
	value, err := vm.RunProgram(prelude)
	if err != nil {
		return nil, err
	}
	build, _ := goja.AssertFunction(value)
	variables := vm.NewObject()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		// Defined, not set: a variable may be named __proto__.
		if err := variables.DefineDataProperty(name, vm.ToValue(env[name]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			return nil, err
		}
	}
	surroundings, err := build(goja.Undefined(), variables)
	if err != nil {
		return nil, err
	}
	return surroundings.ToObject(vm), nil
}

// readSettings takes the settings out of the plain objects that prelude.js returns.
func readSettings(vm *goja.Runtime, result *goja.Object) (Settings, error) {
	if wrong := result.Get("wrong"); wrong != nil {
		return Settings{}, settingError(wrong.String(), result.Get("name"))
	}
	var s Settings
	if secret := result.Get("keySecret"); secret != nil {
		s.HasKeySecret, s.KeySecret = true, secret.String()
	}
	if key := result.Get("tokenKey"); key != nil {
		s.TokenKey = key.String()
	}
	if len(s.KeySecret) > maxKey || len(s.TokenKey) > maxKey {
		return Settings{}, invalid("a key in %s is longer than %d bytes: put a shorter one there", scriptName, maxKey)
	}
	s.Logins = Logins{ToOpen: result.Get("loginToOpen").ToBoolean(), ToEnter: result.Get("loginToEnter").ToBoolean()}
	s.AddressesOnly = result.Get("addressesOnly").ToBoolean()
	s.Lobby = result.Get("lobby").ToBoolean()
	s.OpenerParticipates = result.Get("openerParticipates").ToBoolean()
	if allowed := result.Get("allowed"); allowed != nil {
		s.Allowed = map[string]bool{}
		object := allowed.ToObject(vm)
		for _, name := range object.Keys() {
			s.Allowed[name] = object.Get(name).ToBoolean()
		}
	}
	return s, nil
}
