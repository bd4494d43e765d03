// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// instead is the fix that always works.
const instead = "or set spec.api instead of spec.source"

// ErrTooMuch is the error of a config.js that takes more time or memory than settings need.
var ErrTooMuch error = invalid("%s takes too much time or memory: leave only the settings in it, %s", scriptName, instead)

func settingError(wrong string, name goja.Value) error {
	switch wrong {
	case "keySecret":
		return invalid("api.keySecret in %s must be a string: put the secret there in quotes, or process.env.NAME", scriptName)
	case "file":
		return invalid("%s exports none of the sections api, host and security: export the settings themselves there, not a promise of them", scriptName)
	case "value":
		return invalid("api.allowed.%.64q in %s must be true or false: fix it there", name.String(), scriptName)
	case "names":
		return invalid("api.allowed in %s has more than 256 names, or one over 64 characters: leave only endpoint names in it", scriptName)
	}
	return invalid("api.allowed in %s must be an object of endpoint names with true or false: fix it there", scriptName)
}

// syntaxError is for text that is no JavaScript. The parser's own words are left out: they repeat the text.
func syntaxError(err error, script string) error {
	line := 0
	var list parser.ErrorList
	var syntax *goja.CompilerSyntaxError
	var reference *goja.CompilerReferenceError
	switch {
	case errors.As(err, &list) && len(list) > 0:
		line = list[0].Position.Line
	case errors.As(err, &syntax) && syntax.File != nil:
		line = syntax.File.Position(syntax.Offset).Line
	case errors.As(err, &reference) && reference.File != nil:
		line = reference.File.Position(reference.Offset).Line
	}
	// What is missing at the end is only noticed behind it.
	line = min(line, strings.Count(strings.TrimRight(script, "\r\n"), "\n")+1)
	return invalid("%s is not valid JavaScript: fix it there or in the lines before", at(line))
}

// runtimeError is for a file that did not run to its end. What it threw is left out: it can be anything.
func runtimeError(err error, kinds errorKinds) error {
	// Not errors.As: unwrapping an exception runs code of the file.
	switch e := err.(type) { //nolint:errorlint // see above
	case *goja.InterruptedError:
		return ErrTooMuch
	case *goja.StackOverflowError:
		return invalid("%s calls itself without end: leave only the settings in it, %s", at(lineOf(e.Stack())), instead)
	case *goja.Exception:
		return invalid("%s %s, %s", at(lineOf(e.Stack())), kinds.explain(e.Value()), instead)
	}
	return invalid("%s cannot be evaluated: leave only the settings in it, %s", scriptName, instead)
}

// errorKinds are the prototypes of the built-in errors with what each of them says. An error's name would be the
// file's to choose.
type errorKinds map[*goja.Object]string

func newErrorKinds(vm *goja.Runtime) errorKinds {
	kinds := errorKinds{}
	for class, says := range map[string]string{
		"ReferenceError": "uses a name that is not defined: define it, put it in quotes",
		"TypeError":      "uses something that is undefined, or no function: define it",
		"SyntaxError":    "reads text that is not in the form that it expects: fix it",
		"RangeError":     "uses a number that is out of range: fix it",
	} {
		kinds[vm.Get(class).ToObject(vm).Get("prototype").ToObject(vm)] = says
	}
	return kinds
}

func (k errorKinds) explain(thrown goja.Value) string {
	// Asking any other object for its prototype can run code of the file.
	if object, ok := thrown.(*goja.Object); ok && object.ClassName() == "Error" {
		if says, ok := k[object.Prototype()]; ok {
			return says
		}
	}
	return "throws an error: fix what it asks for"
}

func at(line int) string {
	if line <= 0 {
		return scriptName
	}
	return fmt.Sprintf("%s line %d", scriptName, line)
}

// lineOf is the innermost line of the file itself.
func lineOf(stack []goja.StackFrame) int {
	for i := range stack {
		if stack[i].SrcName() == scriptName {
			return stack[i].Position().Line
		}
	}
	return 0
}
