// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// noisy is a microphone beside a fan. While the participant speaks, the fan is still. The fan sounds as fans do, loudest in the low
// tones: white noise is no sound of a room, and RNNoise takes long to learn it. The voice has the tones of a vowel.
const noisy = `(() => {
	const sounds = [];
	window.speak = on => sounds.forEach(({fan, voice}) => { fan.gain.value = on ? 0 : 1; voice.gain.value = on ? 1 : 0; }) ?? true;
	navigator.mediaDevices.getUserMedia = async () => {
		const audio = new AudioContext(), rate = audio.sampleRate, to = audio.createMediaStreamDestination();
		const play = sample => {
			const buffer = audio.createBuffer(1, 2 * rate, rate), gain = audio.createGain();
			buffer.getChannelData(0).forEach((_, i, samples) => { samples[i] = sample(i / rate, samples[i - 1] ?? 0); });
			const source = new AudioBufferSourceNode(audio, {buffer, loop: true});
			source.connect(gain).connect(to);
			source.start();
			return gain;
		};
		let phase = 0;
		const loudness = tone => [[600, 1], [1200, 0.6], [2500, 0.3]].reduce((sum, [at, g]) => sum + g / (1 + ((tone - at) / 200) ** 2), 0.05);
		sounds.push({
			fan: play((_, before) => 0.98 * before + 0.2 * (Math.random() - 0.5)),
			voice: play(second => {
				const pitch = 120 + 20 * Math.sin(3 * Math.PI * second);
				phase += 2 * Math.PI * pitch / rate;
				let sum = 0;
				for (let n = 1; n <= 24; n++) sum += loudness(n * pitch) * Math.sin(n * phase) / Math.sqrt(n);
				return 0.15 * Math.max(0, Math.sin(4 * Math.PI * second)) * sum;
			}),
		});
		speak(false);
		return to.stream;
	};
})()`

// listens keeps how loud was what a page received, from 0 to 1, over the last two seconds.
const listens = `(real => {
	const lines = [];
	window.RTCPeerConnection = class extends real { constructor(...given) { super(...given); lines.push(this); } };
	window.heard = [];
	setInterval(async () => {
		const reports = await Promise.all(lines.map(line => line.getStats()));
		const levels = reports.flatMap(r => [...r.values()].filter(s => s.type === 'inbound-rtp' && s.kind === 'audio').map(s => s.audioLevel ?? 0));
		window.heard = [...window.heard, Math.max(0, ...levels)].slice(-20);
	}, 100);
})(RTCPeerConnection)`

// What a page that listens receives.
const (
	loud  = `Math.max(...window.heard) > 0.1`
	quiet = `window.heard.length === 20 && Math.max(...window.heard) < 0.03`
)

// talks makes the participant speak while the fan is still, or the fan run while they are silent.
func talks(t *testing.T, p *testkit.Page, on bool) {
	t.Helper()
	testkit.Eval[bool](t, p, fmt.Sprintf(`window.speak(%t)`, on))
}

// TestNoiseIsSuppressed: the others hear the voice and no fan, also after a reload, until the participant wants them to.
func TestNoiseIsSuppressed(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := small
	d.Script = noisy
	ada := w.a.join(d, map[string]any{"room": "fans", "name": "Ada", "audio": true})
	listener := small
	listener.Script = listens
	bob := w.a.join(listener, map[string]any{"room": "fans", "name": "Bob"})
	bob.WaitFor(t, loud)
	if is(t, ada, loads("rnnoise")) {
		t.Error("the filter is loaded before it is on")
	}
	openSettings(t, ada)
	ada.Click(t, by("noise-switch"))
	bob.WaitFor(t, quiet)
	if !is(t, ada, loads("rnnoise_simd")) {
		t.Error("the filter is on, and was not loaded")
	}
	talks(t, ada, true)
	bob.WaitFor(t, loud)

	ada.Reload(t)
	ada.WaitFor(t, inRoom+" && "+sends(true, false)+" && "+loads("rnnoise_simd"))
	talks(t, ada, true)
	bob.WaitFor(t, loud)
	talks(t, ada, false)
	bob.WaitFor(t, quiet)
	openSettings(t, ada)
	ada.WaitFor(t, `document.querySelector('[data-testid=noise-switch]').checked`)
	ada.Click(t, by("noise-switch"))
	bob.WaitFor(t, loud)
	onlyFromHere(t, ada)
}
