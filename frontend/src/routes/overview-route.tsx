import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

export type OverviewSearch = {
  rates?: 'chart' | 'table';
  span?: 'recent' | 'day';
  sort?: string;
};

export const overviewRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/',
  validateSearch: searchOf<OverviewSearch>({
    rates: word(['chart', 'table']),
    span: word(['recent', 'day']),
    sort: text,
  }),
  component: lazyRouteComponent(() => import('./overview-page'), 'OverviewPage'),
});
