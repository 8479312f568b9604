import { Modal } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { OrderForm } from '@/features/orders/order-form';
import type { OrderKind } from '@/features/orders/order-kind';
import { WithOrder } from './with-order';

type OrderModalProps = { kind: OrderKind | undefined; onClose: () => void };

/** Over the page the form of one order; what is filled in is planned, and nothing else happens. */
export function OrderModal({ kind, onClose }: OrderModalProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={kind !== undefined}
      onClose={onClose}
      title={kind ? t(`order.${kind.word}.title`, { target: kind.target }) : ''}
      closeButtonProps={{ 'aria-label': t('word.close') }}
      size="lg"
      centered
    >
      {kind ? (
        <WithOrder key={`${kind.word} ${kind.target}`}>
          {(order) => (
            <OrderForm
              kind={kind}
              isBusy={order.isBusy}
              refusal={order.error}
              onPlan={order.plan}
            />
          )}
        </WithOrder>
      ) : null}
    </Modal>
  );
}
