import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { type ConsumerGroupDetail, topicsOf } from '@/features/consumer-groups/consumer-group';
import { ResetForm } from '@/features/consumer-groups/reset-form';
import { changeGroup, deleteGroup } from '@/features/orders/group-orders';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { ProtectionButton } from './protection-button';
import { usePlanOrder } from './use-plan-order';
import { WithOrder } from './with-order';

type ConsumerGroupActionsProps = { clusterName: string; group: ConsumerGroupDetail };

/** What can be ordered for a consumer group; each leads to a plan first. */
export function ConsumerGroupActions({ clusterName, group }: ConsumerGroupActionsProps) {
  const { t } = useTranslation();
  const [isResetting, setIsResetting] = useState(false);
  const [opened, setOpened] = useState<'change' | 'delete'>();
  const order = usePlanOrder();
  // Where no broker group told, or they differ, both ways are offered: neither is how it is now.
  const enablings = [false, true].filter(
    (enabled) =>
      group.settings.length === 0 || group.settings.some((one) => one.consumeEnabled !== enabled),
  );
  const topics = topicsOf(group);
  const target = { clusterName, groupName: group.name };
  const places = group.settings.map((one) => one.groupName);
  const forms = {
    change: () => changeGroup(clusterName, places, group.name, group.settings),
    delete: () => deleteGroup(clusterName, places, group.name),
  };
  return (
    <>
      <PlanRefusal order={order} />
      <WriteButton data-act onClick={() => setIsResetting(true)} disabled={topics.length === 0}>
        {t('resetGroup.open')}
      </WriteButton>
      <WriteButton variant="default" onClick={() => setOpened('change')}>
        {t('consumerGroup.change')}
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
      <Modal
        opened={isResetting}
        onClose={() => setIsResetting(false)}
        title={t('resetGroup.title', { group: group.name })}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        <WithOrder key={group.name}>
          {(resetting) => (
            <ResetForm
              topics={topics}
              isBusy={resetting.isBusy}
              onPlan={(topicName, position) =>
                resetting.plan({
                  resetOffsets: { clusterName, consumerGroup: group.name, topicName, position },
                })
              }
            />
          )}
        </WithOrder>
      </Modal>
    </>
  );
}
