import { type claims, disagreements as disagree, type World } from './browser';

/** Plays a tone that nobody hears. */
function sound(): HTMLAudioElement {
  const context = new AudioContext();
  const tone = context.createOscillator();
  const stream = context.createMediaStreamDestination();
  tone.connect(stream);
  tone.start();
  const audio = document.createElement('audio');
  audio.srcObject = stream.stream;
  return audio;
}

function box() {
  const tile = document.createElement('div');
  const showRows = (rows: number) => {
    tile.style.cssText = `position: fixed; left: 0; width: 100px; height: 100px; top: ${rows > 0 ? rows - 100 : -1000}px`;
  };
  showRows(0);
  document.body.append(tile);
  return { tile, showRows };
}

const world: World = {
  // The test does it from outside.
  unplug: () => Object.assign(globalThis, { waits: true }),
  sound,
  box,
  history,
  onMoved: (tell) => addEventListener('popstate', tell),
};

/** The claims of these groups that do not hold in the browser that this runs in. */
export function disagreements(...groups: (keyof typeof claims)[]): Promise<string[]> {
  return disagree(world, ...groups);
}
