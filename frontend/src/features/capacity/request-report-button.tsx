import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { requestCapacityReport } from './capacity-queries';

type RequestReportButtonProps = { running: boolean; onRequested: (id: string) => void };

/** Asks for a new report; one that is still waiting or running is answered instead of a second. */
export function RequestReportButton({ running, onRequested }: RequestReportButtonProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const options = requestCapacityReport(client);
  const request = useMutation({
    ...options,
    onSuccess: async (answer) => {
      await options.onSuccess();
      onRequested(answer.data.requestCapacityReport.id);
    },
  });
  return (
    <>
      {request.error ? <span role="alert">{request.error.message}</span> : null}
      <WriteButton onClick={() => request.mutate()} loading={request.isPending} disabled={running}>
        {running ? t('capacity.running') : t('capacity.request')}
      </WriteButton>
    </>
  );
}
