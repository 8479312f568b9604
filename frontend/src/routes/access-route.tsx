import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export const accessTabs = ['users', 'sessions', 'tokens'] as const;
export type AccessTab = (typeof accessTabs)[number];
export type AccessSearch = { tab?: AccessTab; whose?: 'all'; after?: string };

export const accessRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/access',
  validateSearch: (raw: Record<string, unknown>): AccessSearch => {
    const tab = wordOf(raw.tab, accessTabs);
    const whose = wordOf(raw.whose, ['all'] as const);
    const after = textOf(raw.after);
    return { ...(tab ? { tab } : {}), ...(whose ? { whose } : {}), ...(after ? { after } : {}) };
  },
  component: lazyRouteComponent(() => import('./access-page'), 'AccessPage'),
});
