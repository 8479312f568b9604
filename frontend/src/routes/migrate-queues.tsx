import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { moveQueuesOfGroup } from '@/features/orders/static-topic-orders';
import type { GroupKey } from '@/features/replica-groups/replica-group-queries';
import { staticTopicsOf } from '@/features/topics/topic-queries';
import { OrderModal } from './order-modal';
import { withinPage } from './within-page';

/** Moves logical queues off a broker group or onto it, in a cluster with static topics. */
export function MigrateQueues({ groupKey }: { groupKey: GroupKey }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/replica-groups/$brokerGroupName' });
  const { order } = useSearch({ from: '/console/replica-groups/$brokerGroupName' });
  const query = useQuery({
    ...staticTopicsOf(groupKey.clusterName, null),
    enabled: groupKey.clusterName !== '',
  });
  const topics = query.data?.data.staticTopics?.nodes ?? [];
  const show = (wanted: 'migrate' | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  if (topics.length === 0) return null;
  return (
    <>
      <WriteButton variant="default" onClick={() => show('migrate')}>
        {t('staticTopics.migrate')}
      </WriteButton>
      <OrderModal
        kind={order === 'migrate' ? moveQueuesOfGroup(groupKey, topics) : undefined}
        onClose={() => show(undefined)}
      />
    </>
  );
}
