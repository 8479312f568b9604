import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type SearchWay, searchWays } from '@/features/messages/message';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type MessagesSearch = {
  topic?: string;
  by?: SearchWay;
  key?: string;
  begin?: string;
  end?: string;
  after?: string;
};

export const messagesRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/messages',
  validateSearch: (raw: Record<string, unknown>): MessagesSearch => {
    const topic = textOf(raw.topic);
    const by = wordOf(raw.by, searchWays);
    const key = textOf(raw.key);
    const begin = textOf(raw.begin);
    const end = textOf(raw.end);
    const after = textOf(raw.after);
    return {
      ...(topic ? { topic } : {}),
      ...(by ? { by } : {}),
      ...(key ? { key } : {}),
      ...(begin ? { begin } : {}),
      ...(end ? { end } : {}),
      ...(after ? { after } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./messages-page'), 'MessagesPage'),
});
