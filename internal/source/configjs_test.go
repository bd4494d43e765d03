// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
)

// everyLogin is for a host where nobody gets anywhere without a login.
var everyLogin = Logins{ToOpen: true, ToEnter: true}

func secret(s string) Settings { return Settings{HasKeySecret: true, KeySecret: s} }

func TestRealisticConfigJS(t *testing.T) {
	file := readTestdata(t, "config.js")
	want := Settings{HasKeySecret: true, KeySecret: "meetings_default_secret", Allowed: map[string]bool{
		"stats": true, "meetings": false, "meeting": true, "meetingEnd": true, "join": true, "token": false,
	}, Logins: Logins{ToEnter: true}, TokenKey: "meetings_jwt_secret"}
	got, err := EvaluateConfigJS(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without an environment (-want +got):\n%s", diff)
	}
	env := map[string]string{"API_KEY_SECRET": "5e1f", "API_ALLOW_MEETINGS": "yes", "API_ALLOW_STATS": "false", "NODE_ENV": "production"}
	want.KeySecret, want.Allowed["meetings"], want.Allowed["stats"] = "5e1f", true, false
	if got, err = EvaluateConfigJS(t.Context(), strings.ReplaceAll(file, "\n", "\r\n"), env); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with an environment and Windows line ends (-want +got):\n%s", diff)
	}
}

func TestEvaluateConfigJS(t *testing.T) {
	env := map[string]string{"SECRET": "from-env", "__proto__": "own", "QUOTE": `a"b\`}
	for _, tc := range []struct {
		reason string
		script string
		want   Settings
	}{
		{"an empty file", "", Settings{}},
		{"no api", "module.exports = {}", Settings{}},
		{"api is null", "module.exports = {api: null}", Settings{}},
		{"exports that are nothing", "module.exports = undefined", Settings{}},
		{"exports that are no object", "module.exports = 5", Settings{}},
		{"a key for tokens and a protected host", "module.exports = {api: {}, security: {jwt: {key: 'k'}, host: {protected: 'true'}}}", Settings{Logins: Logins{ToOpen: true}, TokenKey: "k"}},
		{"the same at the top", "module.exports = {api: {}, jwt: {key: 'k'}, host: {user_auth: true}}", Settings{Logins: Logins{ToEnter: true}, TokenKey: "k"}},
		{"one below security counts before one at the top", "module.exports = {api: {}, jwt: {key: 'old'}, security: {jwt: {key: 'k'}}}", Settings{TokenKey: "k"}},
		{"an open host", "module.exports = {api: {}, host: {protected: process.env.HOST_PROTECTED === 'true' || false, user_auth: 'false', userAuth: 0}}", Settings{}},
		{"a word that is not known protects", "module.exports = {api: {}, host: {protected: 'on', userAuth: 'on'}}", Settings{Logins: everyLogin}},
		{"what throws protects", "module.exports = {api: {}, get host() { throw new Error() }}", Settings{Logins: everyLogin, OpenerParticipates: true}},
		{"what is in another file protects", "module.exports = {api: {}, security: {host: require('./host')}}", Settings{Logins: everyLogin, OpenerParticipates: true}},
		{"everything in another file", "module.exports = require('./settings')", Settings{Logins: everyLogin, AddressesOnly: true, Lobby: true, OpenerParticipates: true}},
		{"all security in another file", "module.exports = {api: {}, security: require('./security')}", Settings{Logins: everyLogin, AddressesOnly: true, Lobby: true, OpenerParticipates: true}},
		{"a protected host without an API", "module.exports = {host: {user_auth: true}}", Settings{Logins: Logins{ToEnter: true}}},
		{"the same in ECMAScript", "export default {host: {user_auth: true}}", Settings{Logins: Logins{ToEnter: true}}},
		{"a section that is to be called", "module.exports = {api: {}, security: () => ({host: {user_auth: true}})}", Settings{Logins: everyLogin, AddressesOnly: true, Lobby: true, OpenerParticipates: true}},
		{"a host that is to be called", "module.exports = {api: {}, host: () => ({user_auth: true})}", Settings{Logins: everyLogin, OpenerParticipates: true}},
		{"a host that is to be awaited", "module.exports = {api: {}, host: Promise.resolve({user_auth: true})}", Settings{Logins: everyLogin, OpenerParticipates: true}},
		{"a host that is a list", "module.exports = {api: {}, host: [{user_auth: true}]}", Settings{Logins: everyLogin, OpenerParticipates: true}},
		{"logins elsewhere", "module.exports = {api: {}, oidc: {enabled: true}}", Settings{Logins: Logins{ToOpen: true}}},
		{"logins elsewhere, below security", "export default {api: {}, security: {oidc: {enabled: 1}}}", Settings{Logins: Logins{ToOpen: true}}},
		{"a lobby", "module.exports = {api: {}, moderation: {room: {lobby: true}}}", Settings{Lobby: true}},
		{"a lobby that is off", "module.exports = {api: {}, moderation: {room: {lobby: false, maxParticipants: 5}}}", Settings{}},
		{"listed addresses", "module.exports = {api: {}, security: {middleware: {IpWhitelist: {enabled: true}}}}", Settings{AddressesOnly: true}},
		{"no listed addresses", "module.exports = {api: {}, ipWhitelist: {enabled: false, allowed: []}}", Settings{}},
		{"who joins first presents", "module.exports = {api: {}, host: {presenters: {list: [], join_first: true}}}", Settings{}},
		{"who joins first presents, in words", "module.exports = {api: {}, security: {host: {presenters: {join_first: 'true'}}}}", Settings{}},
		{"who joins first does not present", "module.exports = {api: {}, security: {host: {presenters: {join_first: false}}}}", Settings{OpenerParticipates: true}},
		{"nor by a word that is not known", "module.exports = {api: {}, host: {presenters: {join_first: 'never'}}}", Settings{OpenerParticipates: true}},
		{"nor where that is in another file", "module.exports = {api: {}, host: {presenters: require('./presenters')}}", Settings{OpenerParticipates: true}},
		{"a file that changes what objects have", "Array.prototype[Symbol.iterator] = null; module.exports = {api: {}, host: {protected: true}}", Settings{Logins: Logins{ToOpen: true}}},
		{"a key that is no text", "module.exports = {api: {keySecret: 's'}, jwt: {key: 5}}", secret("s")},
		{"CommonJS", "module.exports = {api: {keySecret: 's'}}", secret("s")},
		{"CommonJS by name", "exports.api = {keySecret: 's'}", secret("s")},
		{"CommonJS by this", "this.api = {keySecret: 's'}", secret("s")},
		{"a settings object under the name config", "module.exports.config = {api: {keySecret: 's'}}", secret("s")},
		{"a first line for the shell, and a byte order mark", "\ufeff#!/usr/bin/env node\nmodule.exports = {api: {keySecret: 's'}}", secret("s")},
		{"a comment at the end", "module.exports = {api: {keySecret: 's'}} // done", secret("s")},
		{"ECMAScript, default", "export default {api: {keySecret: 's'}};", secret("s")},
		{"ECMAScript, default of a name", "const config = {api: {keySecret: 's'}};\nexport default config;", secret("s")},
		{"ECMAScript, named", "export const name = 'x';\nexport const api = {keySecret: 's'};", secret("s")},
		{"ECMAScript, list", "const a = {keySecret: 's'}, b = 1;\nexport {\n  a as api,\n  b,\n};", secret("s")},
		{"ECMAScript, list with default", "const c = {api: {keySecret: 's'}};\nexport { c as default };", secret("s")},
		{"ECMAScript, imports", "import 'dotenv/config';\nimport os from 'node:os';\nimport * as path from \"path\";\n" +
			"import process, {\n env as e } from 'process';\nimport{x as y, z}from 'z';\nexport * from 'q';\nexport { w } from 'q';\n" +
			"const dir = path.dirname(new URL('.', import.meta.url).pathname);\nexport function f() {}\nexport async function g() {}\nexport class H {}\n" +
			"export default {dir, cpus: os.cpus().length, y, z, api: {keySecret: process.env.SECRET + e.QUOTE}};", secret(`from-enva"b\`)},
		{"the word export in a text", "const text = `\nexport nothing\n`;\nmodule.exports = {text, api: {keySecret: 's'}}", secret("s")},
		{"a function that makes the settings", "module.exports = () => ({api: {keySecret: 's'}})", secret("s")},
		{"a class", "class Config { get api() { return {keySecret: 's'} } }\nmodule.exports = new Config()", secret("s")},
		{"getters", "module.exports = {get api() { return {get keySecret() { return 's' }, allowed: {get join() { return false }}} }}",
			Settings{HasKeySecret: true, KeySecret: "s", Allowed: map[string]bool{"join": false}}},
		{"a Proxy", "module.exports = new Proxy({}, {get: (_, n) => n === 'api' ? new Proxy({keySecret: 's', allowed: new Proxy({join: false}, {})}, {}) : undefined})",
			Settings{HasKeySecret: true, KeySecret: "s", Allowed: map[string]bool{"join": false}}},
		{"frozen", "module.exports = Object.freeze({api: Object.freeze({keySecret: 's', allowed: Object.freeze({join: true})})})",
			Settings{HasKeySecret: true, KeySecret: "s", Allowed: map[string]bool{"join": true}}},
		{"the environment", "module.exports = {api: {keySecret: process.env.SECRET}}", secret("from-env")},
		{"the environment through dotenv", "module.exports = {api: {keySecret: require('dotenv').config({path: '.env'}).parsed.SECRET}}", secret("from-env")},
		{"a variable that is not set", "module.exports = {api: {keySecret: process.env.MISSING || 'default'}}", secret("default")},
		{"a variable with the name of a trap", "module.exports = {api: {keySecret: process.env.hasOwnProperty('__proto__') ? 'own' : 'none'}}", secret("own")},
		{"a secret that is not set", "module.exports = {api: {keySecret: undefined, allowed: undefined}}", Settings{}},
		{"a secret that is set to nothing", "module.exports = {api: {keySecret: ''}}", secret("")},
		{"every way to write true and false", "module.exports = {api: {allowed: {a: true, b: false, c: 'true', d: 'false', e: '1', f: '0', g: 1, h: 0, i: undefined, j: null}}}",
			Settings{Allowed: map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": true, "f": false, "g": true, "h": false}}},
		{"an empty map", "module.exports = {api: {allowed: {}}}", Settings{Allowed: map[string]bool{}}},
		{"a map that inherits", "module.exports = {api: {allowed: Object.create({join: false}, {token: {value: true, enumerable: true}})}}", Settings{Allowed: map[string]bool{"token": true}}},
		{"an endpoint with the name of a trap", "module.exports = {api: {allowed: JSON.parse('{\"__proto__\": false}')}}", Settings{Allowed: map[string]bool{"__proto__": false}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := EvaluateConfigJS(t.Context(), tc.script, env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is not there must do no harm, however a file uses it.
func TestAbsentThingsAreHarmless(t *testing.T) {
	for _, expression := range []string{
		"require('dotenv').config()",
		"require('dotenv').config().parsed",
		"require('x').y.z(1)(2).w",
		"new (require('x'))('y').z()",
		"new URL('https://example.org').hostname.split('.')",
		"Buffer.from('x').toString('base64')",
		"require('os').networkInterfaces().eth0[0].address",
		"require('os').cpus().length * 2 + 1",
		"Object.entries(require('os').networkInterfaces()).flat().map((x) => x.address)",
		"[...require('os').cpus()]",
		"(() => { for (const x of require('x').list) throw 1; for (const y in require('x')) throw 2 })()",
		"(() => { for (let i = 0; i < require('x').list.length; i++) throw 1 })()",
		"require('path').join(__dirname, '..', __filename)",
		"`${require('path').sep}` + require('x') + 1",
		"Number(require('x')) + -require('x')",
		"JSON.stringify({x: require('x')})",
		"({...require('x')})",
		"(({a, b: [c], ...d}) => d)(require('x'))",
		"require('x').a = 5",
		"delete require('x').a",
		"'a' in require('x')",
		"Object.assign(require('x'), {a: 1})",
		"Object.assign({}, require('x'))",
		"Object.keys(require('x')).length",
		"Object.getOwnPropertyNames(require('x')).length",
		"class_ = class extends require('events') { constructor() { super() } }",
		"require('x') instanceof Object",
		"({}) instanceof require('events')",
		"require('fs').readFileSync(require('path').resolve(__dirname, 'x.pem'), 'utf8').trim()",
		"require('./other')({logger: console}).settings",
		"require.resolve('x')",
		"process.on('exit', () => {}) || process.exit(1)",
		"process.argv.slice(2).length + process.cwd() + process.memoryUsage().rss + process.versions.node.split('.')[0]",
		"setTimeout(() => { throw 1 }, 0)",
		"clearInterval(setInterval(() => {}, 1))",
		"Promise.resolve(require('x')).then(() => {})",
		"(async () => await require('x').load())()",
		"fetch('http://127.0.0.1:1').then((r) => r.json())",
		"console.log('%s', require('x')) || console.error.bind(console)('x')",
		"structuredClone({a: 1}).a",
		"String(require('x'))",
		"require('util').inspect.custom",
		"require('x')[Symbol.for('y')]",
	} {
		script := "let class_;\nconst value = " + expression + ";\nmodule.exports = {value, api: {keySecret: 's'}}"
		got, err := EvaluateConfigJS(t.Context(), script, nil)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if diff := cmp.Diff(secret("s"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expression, diff)
		}
	}
}

func TestOneFileGivesOneResult(t *testing.T) {
	t.Setenv("CONVENE_TEST_SECRET", "of-the-manager")
	const script = `module.exports = {api: {keySecret: [Date.now(), new Date().toISOString(), Math.random(), process.env.CONVENE_TEST_SECRET,
		this.constructor.constructor('return process.env.CONVENE_TEST_SECRET')(), Object.keys(process.env).join()].join('|')}}`
	got, err := EvaluateConfigJS(t.Context(), script, map[string]string{"B": "1", "A": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secret("946684800000|2000-01-01T00:00:00.000Z|0.5|||A,B"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestErrorsSayLineAndMend(t *testing.T) {
	const password = "hunter2"
	for _, tc := range []struct {
		reason, script, want string
	}{
		{"no JavaScript", "module.exports = {\n  api: {\n    keySecret: hunter2 hunter2\n", "config.js line 3 is not valid JavaScript"},
		{"a text without an end", "\n\nmodule.exports = 'hunter2", "config.js line 3 is not valid JavaScript"},
		{"a file that ends too early", "module.exports = {\n", "config.js line 1 is not valid JavaScript"},
		{"what only the compiler finds", "\nconst hunter2 = 1;\nconst hunter2 = 2;", "config.js line 3 is not valid JavaScript"},
		{"a secret without quotes", "module.exports = {api: {\nkeySecret: hunter2}}", "config.js line 2 uses a name that is not defined"},
		{"a property of nothing", "\n\n\nundefined.hunter2", "config.js line 4 uses something that is undefined"},
		{"a call of no function", "'hunter2'()", "config.js line 1 uses something that is undefined, or no function"},
		{"text of another form", "JSON.parse('hunter2')", "config.js line 1 reads text that is not in the form"},
		{"a bad number", "new Array(-1)", "config.js line 1 uses a number that is out of range"},
		{"an error of its own", "function f() {\n throw new Error('hunter2') }\nf()", "config.js line 2 throws an error"},
		{"an error with a name of its own", "class E extends TypeError { get name() { return 'hunter2' } }\nthrow new E()", "config.js line 2 throws an error"},
		{"a text that is thrown", "throw 'hunter2'", "config.js line 1 throws an error"},
		{"a Proxy that is thrown", "throw new Proxy(new Error(), {get() { for (;;); }, getPrototypeOf() { for (;;); }})", "config.js line 1 throws an error"},
		{"a getter that throws", "module.exports = {\nget api() { throw new Error('hunter2') }}", "config.js line 2 throws an error"},
		{"the line behind a rewritten import", "import {\n a,\n b\n} from 'x';\nhunter2", "config.js line 5 uses a name"},
		{"the line with Windows line ends", "\r\n\r\nhunter2", "config.js line 3 uses a name"},
		{"endless calls", "\nfunction f() { return f() }\nf()", "config.js line 2 calls itself without end"},
		{"endless calls through a built-in function", "function f() { return [1].map(f) }\nf()", "config.js line 1 calls itself without end"},
		{"a promise of settings", "module.exports = Promise.resolve({api: {keySecret: 'hunter2'}})", "config.js exports none of the sections"},
		{"a function that promises settings", "module.exports = async () => ({api: {keySecret: 'hunter2'}})", "config.js exports none of the sections"},
		{"settings further below", "module.exports = {settings: {api: {keySecret: 'hunter2'}}}", "config.js exports none of the sections"},
		{"a function that makes a function", "module.exports = () => () => ({api: {keySecret: 'hunter2'}})", "config.js exports none of the sections"},
		{"a secret that is a number", "module.exports = {api: {keySecret: 5}}", "api.keySecret in config.js must be a string"},
		{"a secret from a file that is not there", "module.exports = {api: {keySecret: require('./hunter2').key}}", "api.keySecret in config.js must be a string"},
		{"a switch that is neither", "module.exports = {api: {allowed: {join: 'hunter2'}}}", `api.allowed."join" in config.js must be true or false`},
		{"a switch that is nothing that is there", "module.exports = {api: {allowed: {join: require('x').y}}}", `api.allowed."join" in config.js must be true or false`},
		{"a map that is none", "module.exports = {api: {allowed: 'hunter2'}}", "api.allowed in config.js must be an object"},
		{"a map with too many names", "module.exports = {api: {allowed: Object.fromEntries([...Array(257).keys()].map((i) => [i, true]))}}", "api.allowed in config.js has more than 256 names"},
		{"a name that is too long", "module.exports = {api: {allowed: {['hunter2'.repeat(10)]: true}}}", "api.allowed in config.js has more than 256 names, or one over 64"},
		{"a key that fits into no request", "module.exports = {api: {keySecret: 'hunter2'.repeat(4096)}}", "a key in config.js is longer than"},
		{"too long a file", strings.Repeat("//hunter2", MaxScript/8), "config.js is longer than 1 MiB"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := EvaluateConfigJS(t.Context(), tc.script, map[string]string{"PASSWORD": password})
			if !fault.Is(err, fault.KindInvalid) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Fatalf("got %v, %v, want Invalid: %s…", got, err, tc.want)
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("%q tells a secret", err)
			}
			if text := err.Error(); !strings.Contains(text, ":") || strings.Contains(text, "\n") {
				t.Errorf("%q is not one sentence that says how to fix it", text)
			}
		})
	}
}

func TestSettingsKeepTheirSecret(t *testing.T) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, secret("hunter2")); strings.Contains(text, "hunter2") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestTamperingStaysInside(t *testing.T) {
	for _, tc := range []struct {
		reason, script string
		want           Settings
	}{
		{"all objects get a secret", "Object.prototype.keySecret = 'x'; Object.prototype.api = {allowed: {join: false}}; module.exports = {api: {}}", Settings{}},
		{"all objects get a secret for ever", "try { Object.defineProperty(Object.prototype, 'keySecret', {value: 'x'}) } catch {}\nmodule.exports = {api: {}}", Settings{}},
		{"built-in functions are replaced", "Object.keys = () => ['x']; Map.prototype.get = () => true; Array.prototype[Symbol.iterator] = null;\n" +
			"String.prototype.repeat = null; Reflect.get = null; module.exports = {api: {keySecret: 's', allowed: {join: false}}}",
			Settings{HasKeySecret: true, KeySecret: "s", Allowed: map[string]bool{"join": false}}},
		{"the way out", "module.exports = {api: {keySecret: typeof this.constructor.constructor('return process')().mainModule.require('child_process').execSync('id')}}", secret("function")},
		{"leaving the function", "}); globalThis.escaped = typeof require; (function (exports, _, module) {\nmodule.exports = {api: {keySecret: 's'}}", secret("s")},
		{"a file named in a comment", "module.exports = {api: {keySecret: 's'}}\n//# sourceMappingURL=does-not-exist.map", secret("s")},
		{"a file named in a comment in code that is evaluated", "module.exports = {api: {keySecret: eval('\"s\"\\n//# sourceMappingURL=does-not-exist.map')}}", secret("s")},
		{"a result that claims to be another", "module.exports = {api: {keySecret: 's', wrong: 'keySecret', allowed: {wrong: true, names: false}}}",
			Settings{HasKeySecret: true, KeySecret: "s", Allowed: map[string]bool{"wrong": true, "names": false}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := EvaluateConfigJS(t.Context(), tc.script, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	for reason, script := range map[string]string{
		"an endless loop":                   "for (;;);",
		"an endless loop that catches":      "for (;;) try { for (;;); } catch {} finally {}",
		"an endless loop in a getter":       "module.exports = {get api() { for (;;); }}",
		"an endless loop in a Proxy":        "module.exports = new Proxy({}, {get() { for (;;); }})",
		"an endless loop in a callback":     "[1].sort(() => 0); [1, 2].sort(() => { for (;;); })",
		"an endless chain of promises":      "const f = () => Promise.resolve().then(f); f()",
		"an endless list":                   "const a = []; for (;;) a.push(a.length)",
		"an endless generator":              "function* g() { for (;;) yield 1 }\nconst a = [...g()]",
		"an endless string":                 "let s = 'x'; for (;;) s = s.slice(0, 1000) + 'x'",
		"an endless loop after the exports": "module.exports = {api: {keySecret: 's'}}; for (;;);",
	} {
		t.Run(reason, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if got, err := EvaluateConfigJS(ctx, script, nil); err != ErrTooMuch { //nolint:errorlint // it is returned as it is
				t.Errorf("got %v, %v, want ErrTooMuch", got, err)
			}
		})
	}
}

func FuzzEvaluateConfigJS(f *testing.F) {
	f.Add("module.exports = {api: {keySecret: process.env.A}}")
	f.Add("import a from 'b';\nexport default {api: {allowed: {join: 'true'}}}")
	f.Add("export {\na as b}\nexport const c = 1")
	f.Add("throw new Proxy(Error, {})")
	f.Add("module.exports = require('x')")
	f.Add("#!\n}(")
	f.Fuzz(func(t *testing.T, script string) {
		if len(script) > 200 {
			return // A long file could ask a built-in function, which no interrupt ends, for much.
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := EvaluateConfigJS(ctx, script, map[string]string{"A": "b"})
		if err != nil && !fault.Is(err, fault.KindInvalid) {
			t.Fatalf("%v is not Invalid", err)
		}
	})
}

// FuzzToCommonJS holds the rewriting to its lines.
func FuzzToCommonJS(f *testing.F) {
	f.Add("import {\n a as b,\n c\n} from 'd';\nexport default 1")
	f.Add("export {\n a,\n b as default }\nexport const x\n= 1")
	f.Add("import a, * as b from\n'c'\nexport * from 'd'")
	f.Fuzz(func(t *testing.T, script string) {
		if got := toCommonJS(script); strings.Count(got, "\n") != strings.Count(script, "\n") {
			t.Fatalf("%q became %q", script, got)
		}
	})
}

func BenchmarkEvaluateConfigJS(b *testing.B) {
	file := readTestdata(b, "config.js")
	for b.Loop() {
		if _, err := EvaluateConfigJS(b.Context(), file, nil); err != nil {
			b.Fatal(err)
		}
	}
}
