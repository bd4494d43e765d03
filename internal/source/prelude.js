// SPDX-License-Identifier: Apache-2.0

// What a config.js finds around itself. It runs before the file, and returns what the evaluator needs of it.
(function (env) {
	"use strict";

	// Stands for everything that is not there: any property, call or construction of it is itself again; it is empty when
	// looped over, "" as a string and 0 as a number. Made of a bound function, since that can be called and constructed
	// and yet has no property that a proxy would have to admit.
	const target = function () {}.bind();
	delete target.name;
	delete target.length;
	const fixed = new Map([
		["toJSON", undefined],
		["length", 0],
		["size", 0],
		["toString", () => ""],
		["valueOf", () => 0],
		[Symbol.hasInstance, () => false],
		[Symbol.toPrimitive, (hint) => (hint === "number" ? 0 : "")],
		[Symbol.iterator, () => ({ next: () => ({ done: true, value: undefined }) })],
	]);
	const nothing = new Proxy(target, {
		get: (_, name) => (fixed.has(name) ? fixed.get(name) : typeof name === "symbol" ? undefined : nothing),
		set: () => true,
		has: () => false,
		apply: () => nothing,
		construct: () => nothing,
		ownKeys: () => [],
		getOwnPropertyDescriptor: () => undefined,
		defineProperty: () => true,
		deleteProperty: () => true,
		getPrototypeOf: () => Object.prototype,
	});

	const process = new Proxy(
		{ env, argv: [], execArgv: [], platform: "linux", version: "v22.0.0", versions: { node: "22.0.0" } },
		{ get: (own, name) => (name in own ? own[name] : nothing) },
	);
	const modules = {
		__proto__: null,
		dotenv: { config: () => ({ parsed: env }), parse: () => env },
		process,
	};
	const require = (name) => modules[String(name).replace(/^node:/, "")] ?? nothing;
	require.resolve = () => "";
	require.cache = {};

	const absent = [
		"AbortController", "Buffer", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "clearImmediate", "clearInterval",
		"clearTimeout", "console", "crypto", "fetch", "importMeta", "navigator", "performance", "queueMicrotask", "setImmediate",
		"setInterval", "setTimeout",
	];
	for (const name of absent) globalThis[name] = nothing;
	globalThis.global = globalThis;
	globalThis.process = process;
	globalThis.structuredClone = (value) => value;

	// The evaluator's own, out of reach of what the file does to the built-in objects.
	const { keys } = Object;
	const { isArray } = Array;
	const truths = new Map([[true, true], [false, false], ["true", true], ["false", false], ["1", true], ["0", false], [1, true], [0, false]]);
	const truthOf = truths.get.bind(truths);
	const isNothing = (value) => value === undefined || value === null || value === nothing;

	const has = (value, section) => !isNothing(value) && !isNothing(value[section]);
	// Where the settings may be: in what the file exports, or one level below.
	const placesOf = (config) => {
		if (typeof config === "function" && !isNothing(config) && config.api === undefined && config.default === undefined) config = config();
		return isNothing(config) ? [config] : [config, config.default, config.config];
	};

	// What keeps people out, by where the versions have it: in sections at the top, or below security.
	const doors = {
		__proto__: null,
		loginToOpen: [["host", "protected"], ["oidc", "enabled"], ["OIDC", "enabled"]],
		loginToEnter: [["host", "user_auth"], ["host", "userAuth"]],
		addressesOnly: [["middleware", "IpWhitelist", "enabled"], ["middleware", "ipWhitelist", "enabled"], ["ipWhitelist", "enabled"]],
		lobby: [["moderation", "room", "lobby"]],
	};
	// What cannot be read comes to nothing: it throws, is in a file that is not here, or has still to be called or awaited.
	const at = (value, name) => {
		try {
			if (value === undefined || value === null) return undefined;
			const found = value[name];
			return typeof found === "function" || isArray(found) || typeof found?.then === "function" ? nothing : found;
		} catch {
			return nothing;
		}
	};
	// A switch that comes to nothing, or says a word that is not known, is on.
	const isOn = (value, path) => {
		for (let i = 0; i < path.length; i++) value = at(value, path[i]);
		return value === nothing || (!isNothing(value) && value !== "" && truthOf(value) !== false);
	};
	// What the file exports has none of the sections that are known: it is a promise of the settings, or they are further below.
	const sections = ["api", "host", "security", "middleware", "ipWhitelist", "oidc", "OIDC", "jwt"];
	const areUnknown = (places) => {
		let some = false;
		for (let i = 0; i < places.length; i++) {
			const place = places[i];
			if (isNothing(place) || (typeof place !== "object" && typeof place !== "function")) continue;
			for (let j = 0; j < sections.length; j++) if (at(place, sections[j]) !== undefined) return false;
			some ||= typeof place === "function" || typeof place.then === "function" || keys(place).length > 0;
		}
		return some;
	};
	const isOnIn = (config, paths) => {
		for (let i = 0; i < paths.length; i++) {
			if (isOn(config, paths[i]) || isOn(at(config, "security"), paths[i])) return true;
		}
		return false;
	};
	// Whether who joins a room first is no presenter: a file that does not say makes them one, and one that cannot be read does not.
	const isFirstDenied = (config) => {
		const first = at(at(at(config, "host"), "presenters"), "join_first");
		return first === nothing || (!isNothing(first) && truthOf(first) !== true);
	};
	const tokenKeyOf = (config) => {
		let key = at(at(at(config, "security"), "jwt"), "key");
		if (typeof key !== "string") key = at(at(config, "jwt"), "key");
		return typeof key === "string" ? key : undefined;
	};

	// Returns {keySecret?, allowed?: {names, values}, tokenKey?, and all doors} or {wrong, name?}, all of it plain.
	const read = (module) => {
		const result = { __proto__: null, loginToOpen: false, loginToEnter: false, addressesOnly: false, lobby: false, openerParticipates: false };
		let config;
		const places = placesOf(module.exports);
		for (let i = 0; i < places.length; i++) {
			if (config === undefined && has(places[i], "api")) config = places[i];
			for (const name in doors) result[name] ||= isOnIn(places[i], doors[name]);
			result.openerParticipates ||= isFirstDenied(places[i]) || isFirstDenied(at(places[i], "security"));
		}
		if (config === undefined) return areUnknown(places) ? { __proto__: null, wrong: "file" } : result;
		const tokenKey = tokenKeyOf(config);
		if (tokenKey !== undefined) result.tokenKey = tokenKey;
		const { keySecret, allowed } = config.api;
		if (keySecret !== undefined && keySecret !== null) {
			if (typeof keySecret !== "string") return { __proto__: null, wrong: "keySecret" };
			result.keySecret = keySecret;
		}
		if (isNothing(allowed)) return result;
		if (typeof allowed !== "object") return { __proto__: null, wrong: "allowed" };
		const names = keys(allowed);
		const values = { __proto__: null };
		let count = 0;
		for (let i = 0; i < names.length; i++) {
			const value = allowed[names[i]];
			if (value === undefined || value === null) continue;
			const truth = truthOf(value);
			if (truth === undefined) return { __proto__: null, wrong: "value", name: names[i] };
			if (++count > 256 || names[i].length > 64) return { __proto__: null, wrong: "names" };
			values[names[i]] = truth;
		}
		result.allowed = values;
		return result;
	};

	// Nothing that the file adds to all objects becomes a setting.
	Object.preventExtensions(Object.prototype);
	return { __proto__: null, require, read };
});
