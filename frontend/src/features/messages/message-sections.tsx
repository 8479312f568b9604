import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { DeliveryTable } from './delivery-table';
import type { MessageDetail } from './message';
import { MessageFacts } from './message-facts';
import { PropertyTable } from './property-table';

type MessageSectionsProps = { found: MessageDetail; isStatic: boolean };

/** What there is to know about one message besides its body. */
export function MessageSections({ found, isStatic }: MessageSectionsProps) {
  const { t } = useTranslation();
  const { message, deliveries } = found;
  const more = deliveries.consumerGroupCount - deliveries.nodes.length;
  return (
    <>
      <UnknownBrokers unknown={deliveries.unknown} />
      <MessageFacts message={message} isStatic={isStatic} />
      <Panel
        title={t('delivery.title')}
        aside={more > 0 ? t('delivery.more', { count: more }) : null}
        flush
      >
        {deliveries.nodes.length > 0 ? (
          <DeliveryTable deliveries={deliveries.nodes} />
        ) : (
          <EmptyState title={t('delivery.none')}>{t('delivery.noneNext')}</EmptyState>
        )}
      </Panel>
      <Panel title={t('property.title')} flush>
        {message.properties.length > 0 ? (
          <PropertyTable properties={message.properties} />
        ) : (
          <EmptyState title={t('property.none')} />
        )}
      </Panel>
    </>
  );
}
