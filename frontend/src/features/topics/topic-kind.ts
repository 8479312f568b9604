import type { TopicKind } from '@/gql/operations';

export const topicKinds: TopicKind[] = ['NORMAL', 'RETRY', 'DEAD_LETTER', 'SYSTEM'];

export function isTopicKind(text: unknown): text is TopicKind {
  return topicKinds.some((kind) => kind === text);
}
