import { useNavigate, useSearch } from '@tanstack/react-router';
import { OrderForm } from '@/features/orders/order-form';
import { electMaster } from '@/features/orders/replica-group-orders';
import type { ReplicaGroup } from '@/features/replica-groups/replica-group';
import type { GroupKey } from '@/features/replica-groups/replica-group-queries';
import { DesignatedElection } from './designated-election';
import type { ReplicaGroupSearch } from './replica-group-route';
import { WithOrder } from './with-order';
import { withinPage } from './within-page';

/** The fields of the order that the address of the page keeps, and their names there. */
const keptAs: Partial<Record<string, keyof ReplicaGroupSearch>> = {
  brokerId: 'designate',
  mode: 'mode',
};

type ElectionFormProps = { group: ReplicaGroup; groupKey: GroupKey };

/** Plans an election, and says before that what would come of electing a certain replica. */
export function ElectionForm({ group, groupKey }: ElectionFormProps) {
  const navigate = useNavigate({ from: '/replica-groups/$brokerGroupName' });
  const { designate, mode } = useSearch({ from: '/console/replica-groups/$brokerGroupName' });
  return (
    <WithOrder>
      {(order) => (
        <OrderForm
          kind={electMaster(group)}
          isBusy={order.isBusy}
          refusal={order.error}
          onPlan={order.plan}
          kept={{ brokerId: designate ?? null, ...(mode && { mode }) }}
          onChange={(name, value) => {
            const key = keptAs[name];
            if (key === undefined) return;
            const part = { [key]: value ?? undefined };
            void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
          }}
          preview={
            designate && (
              <DesignatedElection group={group} groupKey={groupKey} brokerId={designate} />
            )
          }
          isInPage
          isAct
        />
      )}
    </WithOrder>
  );
}
