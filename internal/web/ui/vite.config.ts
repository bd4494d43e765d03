import { defineConfig, type Plugin } from 'vite';

/**
 * The entry script is tiny and starts the network work; the interface is a chunk of its own.
 * Naming that chunk in the page lets the browser fetch both at once.
 */
function preloadInterface(): Plugin {
  return {
    name: 'preload-interface',
    transformIndexHtml: {
      order: 'post',
      handler(_html, context) {
        const chunks = Object.values(context.bundle ?? {}).filter((file) => file.type === 'chunk');
        const isEntry = (file: string) => chunks.some((chunk) => chunk.fileName === file && chunk.isEntry);
        const mount = chunks.find((chunk) => chunk.name === 'mount');
        const files = mount ? [mount.fileName, ...mount.imports.filter((file) => !isEntry(file))] : [];
        return files.map((file) => ({
          tag: 'link',
          attrs: { rel: 'modulepreload', href: `./${file}` },
          injectTo: 'head' as const,
        }));
      },
    },
  };
}

export default defineConfig({
  base: '',
  plugins: [preloadInterface()],
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
    // Libraries mark modules for React's server side, which there is none of here.
    rolldownOptions: {
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0]);
