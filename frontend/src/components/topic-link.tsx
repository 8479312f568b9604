import { Link } from '@tanstack/react-router';

/** A topic's name, which leads to its queues. */
export function TopicLink({ topicName }: { topicName: string }) {
  return (
    <Link
      to="/topics/$topicName"
      params={{ topicName }}
      search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
    >
      {topicName}
    </Link>
  );
}
