import { Link } from '@tanstack/react-router';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { TopicLink } from '@/components/topic-link';
import type { Finding } from './finding';

/** What a finding is about: a broker group, a broker of it, a topic, or a consumer group. */
export function SubjectLink({
  finding: { subject, brokerGroupName, topicName },
}: {
  finding: Finding;
}) {
  if (brokerGroupName !== null)
    return <ReplicaGroupLink brokerGroupName={brokerGroupName}>{subject}</ReplicaGroupLink>;
  if (topicName !== null) return <TopicLink topicName={topicName} />;
  return (
    <Link
      to="/consumer-groups/$consumerGroup"
      params={{ consumerGroup: subject }}
      search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
    >
      {subject}
    </Link>
  );
}
