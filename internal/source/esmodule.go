// SPDX-License-Identifier: Apache-2.0

package source

import (
	"regexp"
	"strings"
)

// The forms of import and export that begin a line. It is no parser: a config.js is a list of settings, and what is
// rewritten by mistake in a comment or a text changes no setting.
var (
	moduleLine     = regexp.MustCompile(`(?m)^[ \t]*(?:import[ \t{*'"]|export[ \t{*])`)
	importOnly     = regexp.MustCompile(`(?m)^([ \t]*)import[ \t]*(['"])([^'"\n]*)['"]`)
	importFrom     = regexp.MustCompile(`(?m)^([ \t]*)import\b\s*([^'";(]+?)\s*\bfrom\b\s*(['"])([^'"\n]*)['"]`)
	exportDefault  = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+default\b`)
	exportVariable = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+(const|let|var)[ \t]+([A-Za-z_$][\w$]*)[ \t]*=`)
	exportOther    = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]+(async|function|class)\b`)
	exportList     = regexp.MustCompile(`(?m)^([ \t]*)export\s*\{([^}]*)\}(?:\s*from\s*(['"])[^'"\n]*['"])?`)
	exportAll      = regexp.MustCompile(`(?m)^([ \t]*)export[ \t]*\*[^\n]*`)
	namedImports   = regexp.MustCompile(`\{([^}]*)\}`)
	renamed        = regexp.MustCompile(`([\w$]+)\s+as\s+([\w$]+)`)
)

// toCommonJS rewrites an ECMAScript module for an evaluator that knows CommonJS only, line for line. Other text is
// returned as it is.
func toCommonJS(script string) string {
	if !moduleLine.MatchString(script) {
		return script
	}
	script = importOnly.ReplaceAllString(script, `${1}require(${2}${3}${2})`)
	script = replaceKeepingLines(script, importFrom, func(m []string) string {
		return m[1] + importBindings(m[2], "require("+m[3]+m[4]+m[3]+")")
	})
	script = exportAll.ReplaceAllString(script, `${1};`)
	script = replaceKeepingLines(script, exportList, func(m []string) string {
		if m[3] != "" {
			return m[1] + ";"
		}
		return m[1] + ";Object.assign(exports, {" + renamed.ReplaceAllString(oneLine(m[2]), "$2: $1") + "})"
	})
	script = exportDefault.ReplaceAllString(script, `${1}exports.default =`)
	script = exportVariable.ReplaceAllString(script, `${1}${2} ${3} = exports.${3} =`)
	script = exportOther.ReplaceAllString(script, `${1}${2}`)
	return strings.ReplaceAll(script, "import.meta", "importMeta")
}

// importBindings turns `a, {b as c}` or `* as a` into declarations.
func importBindings(bindings, module string) string {
	var parts []string
	if m := namedImports.FindStringSubmatch(bindings); m != nil {
		parts = append(parts, "{"+renamed.ReplaceAllString(oneLine(m[1]), "$1: $2")+"}")
		bindings = strings.Replace(bindings, m[0], "", 1)
	}
	for name := range strings.SplitSeq(bindings, ",") {
		name = strings.TrimSpace(name)
		if all, ok := strings.CutPrefix(name, "*"); ok {
			name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(all), "as"))
		}
		if name != "" {
			parts = append(parts, name)
		}
	}
	for i, part := range parts {
		parts[i] = part + " = " + module
	}
	if len(parts) == 0 {
		return module
	}
	return "const " + strings.Join(parts, ", ")
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// replaceKeepingLines replaces matches and leaves every following line where it was, so that errors name the right one.
func replaceKeepingLines(s string, re *regexp.Regexp, by func(match []string) string) string {
	return re.ReplaceAllStringFunc(s, func(match string) string {
		out := by(re.FindStringSubmatch(match))
		return out + strings.Repeat("\n", max(0, strings.Count(match, "\n")-strings.Count(out, "\n")))
	})
}
