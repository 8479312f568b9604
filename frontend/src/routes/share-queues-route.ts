import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, queue, searchOf, text, word } from './search';

const orders = ['reset', 'handOver'] as const;

export type ShareQueuesSearch = {
  group?: string;
  topic?: string;
  after?: string;
  /** The share queue that is shown below: of which group, topic and broker group, and which. */
  ofGroup?: string;
  ofTopic?: string;
  ofBroker?: string;
  ofQueue?: string;
  /** The form that is open over the page. */
  order?: (typeof orders)[number];
};

export const shareQueuesRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/share-queues',
  validateSearch: searchOf<ShareQueuesSearch>({
    group: text,
    topic: text,
    after: cursor,
    ofGroup: text,
    ofTopic: text,
    ofBroker: text,
    ofQueue: queue,
    order: word(orders),
  }),
  component: lazyRouteComponent(() => import('./share-queues-page'), 'ShareQueuesPage'),
});
