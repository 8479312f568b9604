import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type OverviewSearch = {
  rates?: 'chart' | 'table';
  span?: 'recent' | 'day';
  sort?: string;
};

export const overviewRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  validateSearch: (raw: Record<string, unknown>): OverviewSearch => {
    const rates = wordOf(raw.rates, ['chart', 'table']);
    const span = wordOf(raw.span, ['recent', 'day']);
    const sort = textOf(raw.sort);
    return { ...(rates ? { rates } : {}), ...(span ? { span } : {}), ...(sort ? { sort } : {}) };
  },
  component: lazyRouteComponent(() => import('./overview-page'), 'OverviewPage'),
});
