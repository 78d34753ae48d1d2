package harness

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// quiet is how long a connection is listened to after its last byte.
const quiet = 1500 * time.Millisecond

// Dial opens a connection to the server, to be used byte by byte.
func (c Client) Dial() (net.Conn, error) {
	return net.DialTimeout("tcp", strings.TrimPrefix(c.Address, "http://"), Patience)
}

// send opens a connection and sends bytes over it while the answers are awaited.
func (c Client) send(bytes string) (net.Conn, error) {
	connection, err := c.Dial()
	if err != nil {
		return nil, err
	}
	go func() {
		// The server may well refuse before it has read everything.
		_, _ = io.WriteString(connection, bytes)
	}()
	return connection, nil
}

// Raw sends bytes that no decent client would, and reads one answer.
func (c Client) Raw(request string) (Answer, error) {
	connection, err := c.send(request)
	if err != nil {
		return Answer{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(Patience)); err != nil {
		return Answer{}, err
	}
	return readAnswer(bufio.NewReader(connection))
}

// Exchange sends bytes over one connection and reads all answers to them.
// closed reports whether the server ended the connection.
func (c Client) Exchange(sent string) (answers []Answer, closed bool, err error) {
	connection, err := c.send(sent)
	if err != nil {
		return nil, false, err
	}
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for {
		patience := quiet
		if len(answers) == 0 {
			patience = 20 * time.Second
		}
		if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return answers, false, err
		}
		switch _, err := reader.Peek(1); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return answers, false, nil
		case err != nil:
			return answers, true, nil
		}
		answer, err := readAnswer(reader)
		if err != nil {
			return answers, false, err
		}
		answers = append(answers, answer)
	}
}

func readAnswer(reader *bufio.Reader) (Answer, error) {
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, body}, err
}
