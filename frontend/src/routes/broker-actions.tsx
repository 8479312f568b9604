import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { Broker } from '@/features/brokers/broker';
import type { BrokerKey } from '@/features/brokers/broker-queries';
import { drainBroker } from '@/features/orders/broker-orders';
import { OrderModal } from './order-modal';
import { ProtectionButton } from './protection-button';
import type { usePlanOrder } from './use-plan-order';
import { withinPage } from './within-page';

type BrokerActionsProps = {
  meant: BrokerKey;
  broker: Broker;
  /** Undefined until the broker has reported it; both actions are offered until then. */
  isCordoned: boolean | undefined;
  order: ReturnType<typeof usePlanOrder>;
};

/** What can be ordered for a broker; each leads to a plan first. */
export function BrokerActions({ meant, broker, isCordoned, order }: BrokerActionsProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/brokers/$brokerName' });
  const view = useSearch({ from: '/console/brokers/$brokerName' });
  const show = (wanted: 'drain' | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  if (!broker.isRegistered) {
    // Only its controller knows the broker, which can't be reached: it can only be forgotten.
    const { clusterName, brokerGroupName } = meant;
    const forget = {
      clusterName,
      brokerGroupName,
      brokerIds: [broker.ownId],
      includesLiving: false,
    };
    return (
      <WriteButton
        variant="default"
        disabled={order.isBusy}
        onClick={() => order.plan({ forgetReplicas: forget })}
      >
        {t('broker.forget')}
      </WriteButton>
    );
  }
  const plain = [
    ...(isCordoned === true ? [] : [['cordon', { cordonBroker: meant }] as const]),
    ...(isCordoned === false ? [] : [['uncordon', { uncordonBroker: meant }] as const]),
    ['forget', { forgetBroker: meant }] as const,
  ];
  return (
    <>
      <WriteButton variant="default" data-act onClick={() => show('drain')}>
        {t('broker.drain')}
      </WriteButton>
      {plain.map(([word, plan]) => (
        <WriteButton
          key={word}
          variant="default"
          disabled={order.isBusy}
          onClick={() => order.plan(plan)}
        >
          {t(`broker.${word}`)}
        </WriteButton>
      ))}
      <ProtectionButton
        what={{
          clusterName: meant.clusterName,
          resourceKind: 'BROKER',
          // By its address, which stays when its id changes with the master.
          resourceName: `${meant.brokerGroupName}/${broker.address}`,
        }}
        isProtected={broker.protection !== null}
        order={order}
      />
      <OrderModal
        kind={view.order === 'drain' ? drainBroker(meant, broker.name) : undefined}
        onClose={() => show(undefined)}
      />
    </>
  );
}
