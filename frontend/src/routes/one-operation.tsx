import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { WriteButton } from '@/components/write-button';
import { isSteering, type Steering, staleLimitMs } from '@/features/operations/operation';
import { OperationMark } from '@/features/operations/operation-mark';
import {
  operationOf,
  type SteeringOrder,
  steerOperation,
} from '@/features/operations/operation-queries';
import { OperationSections } from '@/features/operations/operation-sections';
import { SteerButton } from '@/features/operations/steer-button';
import { useStanding } from '@/features/operations/use-standing';
import { newKey } from '@/lib/idempotency-key';
import { useKeptFocus } from '@/lib/keep-focus';
import { useStaleness } from '@/lib/staleness';
import { focusAct } from '@/lib/use-key-sequence';

const keepsCluster = (now: { cluster?: string }) => (now.cluster ? { cluster: now.cluster } : {});

/** An operation as last seen, asked for again all the time, with the buttons that steer it. */
export function OneOperation({ operationId }: { operationId: string }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const query = useQuery(operationOf(operationId));
  const operation = query.data?.data.operation;
  const staleness = useStaleness(query, staleLimitMs(operation?.state));
  const options = steerOperation(client, operationId);
  const steer = useMutation({
    ...options,
    onSuccess: (answer) => {
      void options.onSuccess(answer);
    },
  });
  const send = (order: SteeringOrder) =>
    steer.mutate(order, {
      // Called only while this page is shown: a user who has gone to another page stays there.
      onSuccess: (answer) => {
        const { id } = answer.data.operation;
        if (id === operationId) return;
        void navigate({
          to: '/operations/$operationId',
          params: { operationId: id },
          search: keepsCluster,
        });
      },
    });
  useKeptFocus(`${operation?.state} ${operation?.wish}`);
  const { standing, isVoided, comparison } = useStanding(operation);
  const offered = standing?.offer;
  const button = (steering: Steering) =>
    operation?.actions.includes(steering) ? (
      <SteerButton
        key={steering}
        operation={operation}
        steering={steering}
        isBusy={steer.isPending}
        onSteer={(chosen) => send({ steering: chosen, key: newKey() })}
      />
    ) : null;
  // Each button stands once: beside the words that recommend it, else at the head of the page.
  const besides = (operation?.actions ?? []).flatMap((action) =>
    !isSteering(action) || action === offered ? [] : [action],
  );
  return (
    <Page
      title={operation ? operation.plan.summary : t('operation.title')}
      crumb={
        <Link to="/operations" search={keepsCluster}>
          ← {t('operations.title')}
        </Link>
      }
      summary={
        operation ? (
          <span role="status">
            <OperationMark operation={operation} staleness={staleness} />
          </span>
        ) : null
      }
      actions={
        operation ? (
          <>
            {operation.actions.includes('CONFIRM') && !isVoided ? (
              <WriteButton onClick={focusAct}>{t('confirm.open')}</WriteButton>
            ) : null}
            {operation.actions.includes('APPROVE') && !isVoided ? (
              <WriteButton onClick={focusAct}>{t('review.open')}</WriteButton>
            ) : null}
            {besides.map(button)}
            <Link to="/audit" search={(now) => ({ ...keepsCluster(now), operation: operationId })}>
              {t('operation.audit')}
            </Link>
          </>
        ) : null
      }
    >
      {steer.error ? (
        <ErrorNotice error={steer.error} onRetry={() => steer.variables && send(steer.variables)} />
      ) : null}
      <QueryView query={query}>
        {(data) => (
          <OperationSections
            operation={data.operation}
            staleness={staleness}
            standing={standing}
            isVoided={isVoided}
            comparison={comparison}
            offer={offered ? button(offered) : null}
          />
        )}
      </QueryView>
    </Page>
  );
}
