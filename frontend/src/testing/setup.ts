import '@testing-library/jest-dom/vitest';
import '@/app/i18n';
import { cleanup, configure, getConfig, prettyDOM } from '@testing-library/react';
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

type Config = ReturnType<typeof getConfig> & { _disableExpensiveErrorDiagnostics: boolean };

// A wait makes an error at each look that finds nothing, and the page in it is what takes time. When
// the wait is over, Testing Library asks for the error once more, and gets it with the page.
configure({
  getElementError: (message, container) => {
    const { _disableExpensiveErrorDiagnostics: isWaiting } = getConfig() as Config;
    const page = isWaiting ? '' : prettyDOM(container);
    const error = new Error([message, page].filter(Boolean).join('\n\n'));
    return Object.assign(error, { name: 'TestingLibraryElementError' });
  },
});

afterEach(() => cleanup());
