import { defineConfig, type Plugin } from 'vite';

/**
 * The entry script is tiny and starts the network work; the interface and the meeting are chunks of their own.
 * Naming them in the page lets the browser fetch all at once. The gateway leaves the meeting's out where there is none.
 */
function preloadChunks(): Plugin {
  return {
    name: 'preload-chunks',
    transformIndexHtml: {
      order: 'post',
      handler(_html, context) {
        const chunks = Object.values(context.bundle ?? {}).filter((file) => file.type === 'chunk');
        const entries = chunks.filter(({ isEntry }) => isEntry);
        // The page names these already.
        const named = new Set(entries.flatMap(({ fileName, imports }) => [fileName, ...imports]));
        const filesOf = (name: string) => {
          const chunk = chunks.find((candidate) => candidate.name === name);
          if (!chunk) throw new Error(`there is no chunk ${name}`);
          return [chunk.fileName, ...chunk.imports.filter((file) => !named.has(file))];
        };
        const always = filesOf('mount');
        const forMeetings = new Set([...filesOf('call'), ...filesOf('RoomScreen')]);
        const meeting = [...forMeetings].filter((file) => !always.includes(file));
        const preload = (attrs: Record<string, boolean>) => (file: string) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', href: `./${file}`, ...attrs },
          injectTo: 'head' as const,
        });
        return [...always.map(preload({})), ...meeting.map(preload({ 'data-meeting': true }))];
      },
    },
  };
}

export default defineConfig({
  base: '',
  plugins: [preloadChunks()],
  resolve: {
    // React's API in 6 kB instead of 58 kB (brotli): livekit-client alone needs 114 of the 200 kB that we allow.
    alias: [
      { find: /^react\/jsx-(dev-)?runtime$/, replacement: 'preact/jsx-runtime' },
      { find: 'react-dom/client', replacement: 'preact/compat/client' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
    ],
  },
  build: {
    outDir: '../dist',
    // Only its .gitignore is tracked, which build/clean.mjs leaves alone.
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    // Libraries mark modules for React's server side, which this page does not have.
    rolldownOptions: {
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
  test: { include: ['src/**/*.test.{ts,tsx}', 'embed/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0]);
