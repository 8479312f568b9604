import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { BodyView } from '@/features/messages/body-view';
import { messageBodyOf } from '@/features/messages/message-queries';
import { withinPage } from './within-page';

type MessageBodyPanelProps = { clusterName: string; messageId: string };

/** The body of a message, in a separate query: it takes a separate permission. */
export function MessageBodyPanel({ clusterName, messageId }: MessageBodyPanelProps) {
  const { t } = useTranslation();
  const { topic, form = 'AUTO' } = useSearch({ from: '/console/messages/$messageId' });
  const navigate = useNavigate({ from: '/messages/$messageId' });
  const query = useQuery(messageBodyOf(clusterName, messageId, topic, form));
  return (
    <Panel title={t('body.title')}>
      <QueryView query={query} needs="messageBody">
        {({ messageBody }) =>
          messageBody === null ? (
            <EmptyState title={t('body.gone')} />
          ) : (
            <BodyView
              body={messageBody}
              onForm={(next) =>
                void navigate({ search: (now) => ({ ...now, form: next }), ...withinPage })
              }
            />
          )
        }
      </QueryView>
    </Panel>
  );
}
