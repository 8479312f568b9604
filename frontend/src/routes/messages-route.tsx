import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type SearchWay, searchWays } from '@/features/messages/message';
import { consoleRoute } from './console-route';
import { cursor, instant, searchOf, text, word } from './search';

export type MessagesSearch = {
  topic?: string;
  by?: SearchWay;
  key?: string;
  begin?: string;
  end?: string;
  after?: string;
  /** The form that is open over the page. */
  order?: 'send';
};

export const messagesRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/messages',
  validateSearch: searchOf<MessagesSearch>({
    topic: text,
    by: word(searchWays),
    key: text,
    begin: instant,
    end: instant,
    after: cursor,
    order: word(['send'] as const),
  }),
  component: lazyRouteComponent(() => import('./messages-page'), 'MessagesPage'),
});
