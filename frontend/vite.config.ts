import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const controlPlane = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/',
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    // The server's content security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
  server: {
    proxy: {
      '/api': controlPlane,
      '/graphql': { target: controlPlane, ws: true },
    },
  },
  test: {
    css: false,
    maxWorkers: 2,
    // To load the pages and a document for each file takes as long as a third of the tests. What a
    // test changes for all, `src/testing/setup.ts` or the test itself takes back.
    isolate: false,
    projects: [
      // Rules need no browser; pages do, and drawing one is what takes time.
      {
        extends: true,
        test: { name: 'rules', environment: 'node', include: ['src/**/*.test.ts'] },
      },
      {
        extends: true,
        // The production build of React is what users get, and draws pages in a fraction of the time.
        oxc: { jsx: { runtime: 'automatic', development: false } },
        test: {
          name: 'pages',
          environment: 'jsdom',
          env: { NODE_ENV: 'production' },
          include: ['src/**/*.test.tsx'],
          setupFiles: ['src/testing/act.ts', 'src/testing/setup.ts'],
          // A limit for what hangs: the roles of a whole page are counted out slowly, and cores shared.
          testTimeout: 180_000,
        },
      },
    ],
  },
});
