import { useSearch } from '@tanstack/react-router';
import type { ShareQueueName } from '@/features/share-queues/share-queue';
import { OneShareQueue } from './one-share-queue';

/** The share queue that the address names, below the list; nothing if it names none. */
export function ShareQueuePanel({ clusterName }: { clusterName: string }) {
  const { ofGroup, ofTopic, ofBroker, ofQueue } = useSearch({ from: '/console/share-queues' });
  if (!(ofGroup && ofTopic && ofBroker) || ofQueue === undefined) return null;
  const name: ShareQueueName = {
    brokerGroupName: ofBroker,
    topic: ofTopic,
    queueId: Number(ofQueue),
    consumerGroupName: ofGroup,
  };
  return <OneShareQueue clusterName={clusterName} name={name} />;
}
