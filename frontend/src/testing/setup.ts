import '@testing-library/jest-dom/vitest';
import '@/app/i18n';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

/** What a browser has and jsdom lacks. */
class NoObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

class NoChart {
  setData(): void {}
  setSize(): void {}
  destroy(): void {}
}

vi.mock('uplot', () => ({ default: NoChart }));
vi.stubGlobal('ResizeObserver', NoObserver);
vi.stubGlobal('scrollTo', () => undefined);
Element.prototype.scrollIntoView = () => undefined;
Element.prototype.scrollTo = () => undefined;
window.matchMedia = (query: string) =>
  ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }) as unknown as MediaQueryList;

// A limit for what hangs: a first page loads its code on the way, and slow machines share their cores.
configure({ asyncUtilTimeout: 60_000 });

afterEach(() => cleanup());
