import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

const orders = ['send', 'change', 'move', 'expand', 'reset', 'delete'] as const;
/** The form that is open over the page; `group` fills in the consumer group of a reset. */
export type TopicOrder = (typeof orders)[number];
export type TopicSearch = { sort?: string; order?: TopicOrder; group?: string };

export const topicRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics/$topicName',
  validateSearch: searchOf<TopicSearch>({ sort: text, order: word(orders), group: text }),
  component: lazyRouteComponent(() => import('./topic-page'), 'TopicPage'),
});
