// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

// paintedCamera gives a page a camera that shows a painted person, which is kinder to look at than the test picture of
// the browser, and a screen to share that shows a diagram. How the person looks follows from the name in the link.
const paintedCamera = `(() => {
	if (!navigator.mediaDevices) return;
	const name = new URL(location.href).searchParams.get('name') ?? 'Ada';
	const seed = [...name].reduce((sum, c) => sum * 31 + c.codePointAt(0) >>> 0, 7);
	const pick = (list, salt) => list[(seed >>> salt) % list.length];
	const look = {
		wall: pick([['#e9dfd2', '#cdbba5'], ['#d5dfe8', '#a9bccd'], ['#e6e2ee', '#bfb6d3'], ['#dde6dc', '#adc2ad']], 3),
		skin: pick(['#f0c7a5', '#d9a074', '#a86f48', '#7c4d30'], 5),
		hair: pick(['#2b2119', '#5a3a22', '#1c1c22', '#8a5a33'], 9),
		shirt: pick(['#2f5d8c', '#8c3f4d', '#3f6b57', '#5d4a85', '#c08a3e'], 11),
		long: seed >>> 13 & 1,
	};
	const paint = (draw, width, height) => {
		const canvas = Object.assign(document.createElement('canvas'), {width, height});
		const g = canvas.getContext('2d');
		draw(g, 0);
		setInterval(() => draw(g, performance.now() / 1000), 200);
		return canvas.captureStream(5).getVideoTracks()[0];
	};
	const round = (g, colour, x, y, rx, ry, from = 0, to = 7) => {
		g.fillStyle = colour;
		g.beginPath();
		g.ellipse(x, y, rx, ry, 0, from, to);
		g.fill();
	};
	const room = (g, w, h) => {
		const wall = g.createLinearGradient(0, 0, w, h);
		look.wall.forEach((colour, i) => wall.addColorStop(i, colour));
		g.fillStyle = wall;
		g.fillRect(0, 0, w, h);
		g.fillStyle = '#ffffff66';
		g.fillRect(w * 0.07, h * 0.12, w * 0.2, h * 0.4);
		g.fillStyle = '#00000014';
		g.fillRect(w * 0.76, h * 0.3, w * 0.2, h * 0.025);
		['#b5533c99', '#3f6b8a99', '#d0a24a99'].forEach((colour, i) => {
			g.fillStyle = colour;
			g.fillRect(w * (0.79 + i * 0.035), h * 0.19, w * 0.026, h * 0.11);
		});
	};
	const person = (g, t) => {
		const {width: w, height: h} = g.canvas, x = w / 2 + Math.sin(t) * 5, y = h * 0.44;
		room(g, w, h);
		if (look.long) round(g, look.hair, x, y + h * 0.09, w * 0.125, h * 0.33);
		round(g, look.shirt, w / 2 + (x - w / 2) / 2, h * 1.06, w * 0.25, h * 0.36);
		g.fillStyle = look.skin;
		g.fillRect(x - w * 0.035, y + h * 0.12, w * 0.07, h * 0.16);
		round(g, '#00000022', x, y + h * 0.2, w * 0.036, h * 0.05, 0, Math.PI);
		round(g, look.skin, x, y, w * 0.093, h * 0.205);
		g.save();
		g.beginPath();
		g.ellipse(x, y - h * 0.03, w * 0.104, h * 0.215, 0, Math.PI, Math.PI * 2);
		g.quadraticCurveTo(x + w * 0.02, y - h * 0.09, x - w * 0.104, y - h * 0.03);
		g.fillStyle = look.hair;
		g.fill();
		g.restore();
		const shut = t % 4 < 0.2;
		for (const side of [-1, 1]) round(g, '#26201c', x + side * w * 0.036, y + h * 0.005, w * 0.0075, h * (shut ? 0.003 : 0.0145));
		g.strokeStyle = '#26201caa';
		g.lineWidth = h * 0.009;
		g.lineCap = 'round';
		g.beginPath();
		g.arc(x, y + h * 0.055, w * 0.03, 0.5, Math.PI - 0.5);
		g.stroke();
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
		if (wanted.video) stream.addTrack(paint(person, 960, 540));
		return stream;
	};
	navigator.mediaDevices.getDisplayMedia = async () => new MediaStream([paint(diagram, 1280, 720)]);
})()`
