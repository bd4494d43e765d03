import { loadRnnoise, RnnoiseWorkletNode } from '@sapphi-red/web-noise-suppressor';
import plainUrl from '@sapphi-red/web-noise-suppressor/rnnoise.wasm?url';
import simdUrl from '@sapphi-red/web-noise-suppressor/rnnoise_simd.wasm?url';
import workletUrl from '@sapphi-red/web-noise-suppressor/rnnoiseWorklet.js?url';

export { soundRuns } from './soundRuns';

export interface Quieted {
  track: MediaStreamTrack;
  /** Frees what makes the track. The microphone itself stays open. */
  stop: () => void;
}

/** RNNoise is trained on this rate. */
const sampleRate = 48_000;

/** The voice of a microphone without the noise around it. Call it once sound runs. */
export async function suppressNoise(microphone: MediaStreamTrack): Promise<Quieted> {
  const context = new AudioContext({ sampleRate });
  try {
    const [wasmBinary] = await Promise.all([
      loadRnnoise({ url: plainUrl, simdUrl }),
      context.audioWorklet.addModule(workletUrl),
    ]);
    const filter = new RnnoiseWorkletNode(context, { wasmBinary, maxChannels: 1 });
    const output = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
    context
      .createMediaStreamSource(new MediaStream([microphone]))
      .connect(filter)
      .connect(output);
    const [track] = output.stream.getAudioTracks();
    if (!track) throw new Error('the filter gives no sound');
    const stop = () => {
      filter.destroy();
      void context.close();
    };
    return { track, stop };
  } catch (error) {
    void context.close();
    throw error;
  }
}
