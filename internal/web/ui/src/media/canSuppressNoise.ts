/** Whether the browser can run the filter at all. */
export function canSuppressNoise(): boolean {
  return 'WebAssembly' in globalThis && 'AudioWorkletNode' in globalThis;
}
