// SPDX-License-Identifier: Apache-2.0

//go:build slow

package sandbox

import (
	"maps"
	"strings"
)

func init() {
	maps.Copy(hostileFiles, map[string]string{
		"an endless chain of promises":            "const f = () => Promise.resolve().then(f); f();",
		"endless calls through a built-in":        "const a = {toString() { return String(a) }}; String(a);",
		"an array of 10⁹":                         "new Array(1e9).fill(1);",
		"an array of arrays":                      "let a = []; for (;;) a = [a, a.concat(a), new Array(1e5).fill(a)];",
		"a string of 10⁹":                         "'x'.repeat(1e9) + 'ы'.repeat(1e9);",
		"padding":                                 "'x'.padEnd(2 ** 30, 'yz');",
		"a buffer of 4 GB":                        "new Uint8Array(new ArrayBuffer(2 ** 32 - 1)).fill(1);",
		"a built-in that joins 10⁹ places":        "Array(1e9).join('xxxxxxxxxxxxxxxx');",
		"a list made of a length":                 "Array.from({length: 2 ** 40});",
		"a number of 10⁹ digits":                  "2n ** (10n ** 10n);",
		"arrays a million deep made into text":    "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; String(a);",
		"a text to evaluate a million deep":       "eval('['.repeat(1e6));",
		"a file with as many signs":               strings.Repeat("!", 1_000_000),
		"a file of arrows":                        strings.Repeat("a=>", 340_000),
		"a result that never comes":               "Object.defineProperty(module, 'exports', {get() { for (;;); }, set() {}});",
		"a sort that never ends":                  "Array.from({length: 1e4}, (_, i) => i).sort(() => { for (;;); });",
		"an environment of its own that explodes": "const e = process.env; for (let i = 0; ; i++) e['x' + i] = 'y'.repeat(1e6);",
	})
}
