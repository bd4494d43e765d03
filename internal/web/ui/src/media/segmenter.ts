import type { SelfieSegmentation } from '@mediapipe/selfie_segmentation';
import graphUrl from '@mediapipe/selfie_segmentation/selfie_segmentation.binarypb?url';
import scriptUrl from '@mediapipe/selfie_segmentation/selfie_segmentation.js?url';
import modelUrl from '@mediapipe/selfie_segmentation/selfie_segmentation_landscape.tflite?url';
import loaderUrl from '@mediapipe/selfie_segmentation/selfie_segmentation_solution_simd_wasm_bin.js?url';
import wasmUrl from '@mediapipe/selfie_segmentation/selfie_segmentation_solution_simd_wasm_bin.wasm?url';

/** The size of the model's input. */
export const inputSize = { width: 256, height: 144 };

/** Gives a picture in which a participant is opaque and the background is not. It holds until the next one is asked for. */
export type Segment = (picture: HTMLCanvasElement) => Promise<CanvasImageSource>;

const files: Record<string, string> = {
  'selfie_segmentation.binarypb': graphUrl,
  'selfie_segmentation_landscape.tflite': modelUrl,
  'selfie_segmentation_solution_simd_wasm_bin.js': loaderUrl,
  'selfie_segmentation_solution_simd_wasm_bin.wasm': wasmUrl,
};

let opened: Promise<Segment> | undefined;

/** The model takes memory that a page gets back only when it is left. So all painters share one, one picture at a time. */
export function openSegmenter(): Promise<Segment> {
  opened ??= open().catch((error: unknown) => {
    closeSegmenter();
    throw error;
  });
  return opened;
}

/** The next painter opens another. The memory of a model that fails is not given back. */
export function closeSegmenter(): void {
  opened = undefined;
}

async function open(): Promise<Segment> {
  const Solution = await loadSolution();
  const solution = new Solution({ locateFile: (name) => files[name] ?? name });
  const results: CanvasImageSource[] = [];
  solution.onResults(({ segmentationMask }) => void results.push(segmentationMask));
  // 1 is the model for pictures that are wider than high.
  solution.setOptions({ modelSelection: 1 });
  await solution.initialize();
  let queue: Promise<unknown> = Promise.resolve();
  return (picture) => {
    const next = queue.then(async () => {
      await solution.send({ image: picture });
      const [mask] = results.splice(0);
      if (!mask) throw new Error('the model gave no picture');
      return mask;
    });
    queue = next.catch(() => undefined);
    return next;
  };
}

/** The package is no module: its script defines a global. */
function loadSolution(): Promise<typeof SelfieSegmentation> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = scriptUrl;
    script.onload = () =>
      resolve(
        (globalThis as unknown as { SelfieSegmentation: typeof SelfieSegmentation }).SelfieSegmentation,
      );
    script.onerror = (event) => {
      // The page repairs itself when one of its scripts is missing. It does without this one.
      if (event instanceof Event) event.stopPropagation();
      reject(new Error('the script of the model was not loaded'));
    };
    document.head.append(script);
  });
}
