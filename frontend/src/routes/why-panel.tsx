import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/components/panel';
import { ExplainForm } from '@/features/locks/explain-form';
import type { QueueChoice } from '@/features/locks/lock-queries';
import { QueueExplanations } from './queue-explanations';

/** Asks why a queue stands still, and answers in a sentence with its evidence. */
export function WhyPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/locks' });
  const { whyGroup, whyTopic, whyBroker, whyQueue } = useSearch({ from: '/console/locks' });
  const chosen: QueueChoice | undefined =
    whyGroup && whyTopic
      ? {
          consumerGroupName: whyGroup,
          topicName: whyTopic,
          brokerGroupName: whyBroker,
          queueId: whyQueue === undefined ? undefined : Number(whyQueue),
        }
      : undefined;
  return (
    <Panel title={t('why.title')} flush>
      <ExplainForm
        // Another queue that the address names is filled in.
        key={JSON.stringify(chosen)}
        chosen={chosen}
        onAsk={(queue) =>
          void navigate({
            search: (now) => ({
              ...now,
              whyGroup: queue.consumerGroupName,
              whyTopic: queue.topicName,
              whyBroker: queue.brokerGroupName,
              whyQueue: queue.queueId === undefined ? undefined : String(queue.queueId),
            }),
            state: (now) => now,
            resetScroll: false,
          })
        }
      />
      {chosen ? <QueueExplanations clusterName={clusterName} queue={chosen} /> : null}
    </Panel>
  );
}
