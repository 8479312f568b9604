import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

const orders = ['change', 'reset', 'delete'] as const;
/** The form that is open over the page; `group` fills in the consumer group of a reset. */
export type TopicOrder = (typeof orders)[number];
export type TopicSearch = { sort?: string; order?: TopicOrder; group?: string };

export const topicRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics/$topicName',
  validateSearch: (raw: Record<string, unknown>): TopicSearch => {
    const sort = textOf(raw.sort);
    const order = wordOf(raw.order, orders);
    const group = textOf(raw.group);
    return { ...(sort ? { sort } : {}), ...(order ? { order } : {}), ...(group ? { group } : {}) };
  },
  component: lazyRouteComponent(() => import('./topic-page'), 'TopicPage'),
});
