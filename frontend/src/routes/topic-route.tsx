import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export const topicRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics/$topicName',
  validateSearch: (raw: Record<string, unknown>): { sort?: string } => {
    const sort = textOf(raw.sort);
    return sort ? { sort } : {};
  },
  component: lazyRouteComponent(() => import('./topic-page'), 'TopicPage'),
});
