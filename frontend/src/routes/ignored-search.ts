import type { AnyRouter } from '@tanstack/react-router';
import { type Ignored, ignoredOf } from './search';

type Located = { pathname: string; search: object };

const none: readonly Ignored[] = [];

/**
 * Remembers what was ignored of an address until another page is opened: the router takes it out of
 * the address itself.
 */
export class IgnoredSearch {
  #known = none;
  #pathname: string | undefined;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  readonly current = (): readonly Ignored[] => this.#known;

  readonly dismiss = (): void => this.#keep(none);

  /** Looks at the address that a router begins with, and at each that it comes to. */
  follow(router: AnyRouter): void {
    const look = (location: Located) => {
      const found = ignoredIn(router, location);
      if (found.length > 0 || location.pathname !== this.#pathname) this.#keep(found);
      this.#pathname = location.pathname;
    };
    look(router.latestLocation);
    router.subscribe('onBeforeLoad', ({ toLocation }) => look(toLocation));
  }

  #keep(found: readonly Ignored[]): void {
    if (found.length === 0 && this.#known.length === 0) return;
    this.#known = found;
    for (const listener of this.#listeners) listener();
  }
}

function ignoredIn(router: AnyRouter, { pathname, search }: Located): Ignored[] {
  const matches = router.matchRoutes(pathname, search);
  return ignoredOf(
    search as Record<string, unknown>,
    matches.map(({ routeId }) => router.routesById[routeId]?.options.validateSearch),
  );
}
