import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, word } from './search';

export const accessTabs = ['users', 'sessions', 'tokens'] as const;
export type AccessTab = (typeof accessTabs)[number];
export type AccessSearch = { tab?: AccessTab; whose?: 'all'; after?: string };

export const accessRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/access',
  validateSearch: searchOf<AccessSearch>({
    tab: word(accessTabs),
    whose: word(['all']),
    after: cursor,
  }),
  component: lazyRouteComponent(() => import('./access-page'), 'AccessPage'),
});
