import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { SegmentsView } from '@/components/segments-as';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

const orders = [
  'send',
  'change',
  'convert',
  'move',
  'expand',
  'shrink',
  'reset',
  'delete',
] as const;
/** The form that is open over the page; `group` fills in the consumer group of a reset. */
export type TopicOrder = (typeof orders)[number];
export type TopicSearch = {
  sort?: string;
  order?: TopicOrder;
  group?: string;
  segments?: SegmentsView;
};

export const topicRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics/$topicName',
  validateSearch: searchOf<TopicSearch>({
    sort: text,
    order: word(orders),
    group: text,
    segments: word<SegmentsView>(['strip', 'table']),
  }),
  component: lazyRouteComponent(() => import('./topic-page'), 'TopicPage'),
});
