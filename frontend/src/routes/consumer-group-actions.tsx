import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { type ConsumerGroupDetail, topicsOf } from '@/features/consumer-groups/consumer-group';
import { changeGroup, deleteGroup } from '@/features/orders/group-orders';
import { resetGroup } from '@/features/orders/offset-orders';
import { setConsumeMode } from '@/features/orders/share-queue-orders';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { ProtectionButton } from './protection-button';
import { usePlanOrder } from './use-plan-order';

type ConsumerGroupActionsProps = { clusterName: string; group: ConsumerGroupDetail };

/** What can be ordered for a consumer group; each leads to a plan first. */
export function ConsumerGroupActions({ clusterName, group }: ConsumerGroupActionsProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState<'reset' | 'change' | 'mode' | 'delete'>();
  const order = usePlanOrder();
  // Both changes are offered if no broker group reported or they differ: neither is the state now.
  const enablings = [false, true].filter(
    (enabled) =>
      group.settings.length === 0 || group.settings.some((one) => one.consumeEnabled !== enabled),
  );
  const topics = topicsOf(group);
  const target = { clusterName, consumerGroupName: group.name };
  const places = group.settings.map((one) => one.brokerGroupName);
  const reading = { name: group.name, topics, brokerGroups: places };
  const forms = {
    reset: () => resetGroup(clusterName, reading),
    mode: () => setConsumeMode(clusterName, reading),
    change: () => changeGroup(clusterName, places, group.name, group.settings),
    delete: () => deleteGroup(clusterName, places, group.name),
  };
  return (
    <>
      <PlanRefusal order={order} />
      <WriteButton data-act onClick={() => setOpened('reset')} disabled={topics.length === 0}>
        {t('resetGroup.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('change')}>
        {t('consumerGroup.change')}
      </WriteButton>
      <WriteButton
        variant="default"
        onClick={() => setOpened('mode')}
        disabled={topics.length === 0}
      >
        {t('consumerGroup.mode')}
      </WriteButton>
      <OrderModal kind={opened && forms[opened]()} onClose={() => setOpened(undefined)} />
      {enablings.map((consumeEnabled) => (
        <WriteButton
          key={String(consumeEnabled)}
          variant="default"
          disabled={order.isBusy}
          onClick={() => order.plan({ changeConsumerGroup: { ...target, consumeEnabled } })}
        >
          {t(consumeEnabled ? 'consumerGroup.allow' : 'consumerGroup.stop')}
        </WriteButton>
      ))}
      <WriteButton variant="default" onClick={() => setOpened('delete')}>
        {t('consumerGroup.delete')}
      </WriteButton>
      <ProtectionButton
        what={{ clusterName, resourceKind: 'CONSUMER_GROUP', resourceName: group.name }}
        isProtected={group.protection !== null}
        order={order}
      />
    </>
  );
}
