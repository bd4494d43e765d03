// SPDX-License-Identifier: Apache-2.0

package e2e

// paintedCamera gives a page a camera that shows a painted person, which is kinder to look at than the test picture of
// the browser, and a screen to share that shows a diagram. The colour follows from the name in the link.
const paintedCamera = `(() => {
	if (!navigator.mediaDevices) return;
	const name = new URL(location.href).searchParams.get('name') ?? 'Ada';
	const hue = [...name].reduce((sum, c) => sum + c.codePointAt(0) * 47, 0) % 360;
	const paint = (draw, width, height) => {
		const canvas = Object.assign(document.createElement('canvas'), {width, height});
		const g = canvas.getContext('2d');
		draw(g, 0);
		setInterval(() => draw(g, performance.now() / 1000), 200);
		return canvas.captureStream(5).getVideoTracks()[0];
	};
	const person = (g, t) => {
		const {width: w, height: h} = g.canvas, sway = Math.sin(t) * 6;
		const wall = g.createLinearGradient(0, 0, w, h);
		wall.addColorStop(0, 'hsl(' + hue + ' 38% 82%)');
		wall.addColorStop(1, 'hsl(' + (hue + 40) + ' 32% 58%)');
		g.fillStyle = wall;
		g.fillRect(0, 0, w, h);
		g.fillStyle = 'hsl(' + (hue + 20) + ' 30% 90% / 50%)';
		g.fillRect(w * 0.08, h * 0.1, w * 0.22, h * 0.42);
		g.fillStyle = 'hsl(' + (hue + 180) + ' 34% 38%)';
		g.beginPath();
		g.ellipse(w / 2 + sway / 2, h * 1.04, w * 0.25, h * 0.36, 0, 0, 7);
		g.fill();
		const skin = 'hsl(' + (18 + hue % 14) + ' 46% ' + (48 + hue % 30) + '%)';
		g.fillStyle = skin;
		g.fillRect(w * 0.465 + sway, h * 0.56, w * 0.07, h * 0.16);
		g.beginPath();
		g.ellipse(w / 2 + sway, h * 0.43, w * 0.098, h * 0.215, 0, 0, 7);
		g.fill();
		g.fillStyle = 'hsl(' + (hue % 50) + ' 35% ' + (14 + hue % 22) + '%)';
		g.beginPath();
		g.ellipse(w / 2 + sway, h * 0.33, w * 0.108, h * 0.16, 0, Math.PI * 0.98, Math.PI * 2.02);
		g.fill();
	};
	const diagram = (g, t) => {
		const {width: w, height: h} = g.canvas;
		g.fillStyle = '#fbfbfd';
		g.fillRect(0, 0, w, h);
		g.fillStyle = '#1f2937';
		g.font = '600 ' + h * 0.06 + 'px system-ui, sans-serif';
		g.fillText('Visitors by month', w * 0.08, h * 0.15);
		[0.34, 0.41, 0.39, 0.52, 0.6, 0.58, 0.71, 0.83].forEach((share, i) => {
			g.fillStyle = i === 7 ? '#2a57c9' : '#b9c8ee';
			g.fillRect(w * (0.08 + i * 0.107), h * (0.88 - share * 0.62), w * 0.075, h * share * 0.62);
		});
	};
	const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
	navigator.mediaDevices.getUserMedia = async (wanted) => {
		const stream = wanted.audio ? await real({audio: wanted.audio}) : new MediaStream();
		if (wanted.video) stream.addTrack(paint(person, 640, 360));
		return stream;
	};
	navigator.mediaDevices.getDisplayMedia = async () => new MediaStream([paint(diagram, 1280, 720)]);
})()`
